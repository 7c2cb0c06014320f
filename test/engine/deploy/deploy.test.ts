import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  arnOf,
  modelDescription,
  modelStackName,
  networkStackName,
  stackName,
  type StandInAccount,
  type StandInAws,
} from './stand-in-aws.ts';
import { outputs, useDeploy, withModel, type DeployOptions } from './fixture.ts';

const fixture = useDeploy();
const noKeys = { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' };

const roles = (calls: { args: string[] }[]) => calls.map(({ args }) => args[0]);
const temporaryFolders = () => readdirSync(fixture.folder).filter((name) => name.startsWith('image-'));

test('the dashboard is built, the stack deployed, and then it is said where the service is', async () => {
  const { code, stdout, stderr, calls } = await fixture.deploy([]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(roles(calls)).toEqual(['build', 'deploy']);
  const args = ['deploy', stackName, '--outputs-file', expect.stringMatching(/outputs\.json$/)];
  const quota = ['-c', 'accountConcurrency=1000'];
  expect(calls[1]!.args).toEqual([...args, ...quota, '--region', 'eu-west-1']);
  expect(stdout).toContain('account 123456789012 in eu-west-1, as arn:aws:iam::123456789012:user/olga');
  expect(stdout).toContain('\ndeploying\n');
  expect(stdout).toContain(outputs.BaseUrl);
  expect(stdout).toContain(outputs.DashboardUrl);
  expect(stdout).toContain(`smoke -- --stack ${stackName} --region eu-west-1`);
  expect(stdout).not.toContain('no model');
  // The outputs were kept in a temporary folder that is gone.
  expect(temporaryFolders()).toEqual([]);
  expect(readdirSync(fixture.root)).toEqual(['cdk.json']);
});

test('the app is told which identity of SES sends to everybody', async () => {
  fixture.configure({ mail: { from: 'no-reply@example.com' } });
  const { calls } = await fixture.deploy([], { mailIdentities: { 'example.com': 'SUCCESS' } });
  expect(calls[1]!.args.join(' ')).toContain(' -c mailIdentity=example.com ');
});

test('the stage names the stack, and a file of options is passed on to the app by its whole path', async () => {
  fixture.configure({ stage: 'wrong' });
  const path = join(fixture.folder, 'options.json');
  writeFileSync(path, JSON.stringify({ stage: 'trial' }));
  const env = { STAND_IN_OUTPUTS: JSON.stringify({ 'image-generation-trial': outputs }) };
  const { code, calls } = await fixture.deploy(['--config', 'options.json'], { env });
  expect(code).toBe(0);
  expect(calls[1]!.args[1]).toBe('image-generation-trial');
  expect(calls[1]!.args.join(' ')).toContain(`-c config=${path}`);
});

test('--yes, --profile and --region reach the CDK', async () => {
  // Without a file of profiles, only the keys in the environment are there; STS is a stand-in either way.
  const { calls, stderr } = await fixture.deploy(['--yes', '--region', 'us-east-2']);
  expect(stderr).toBe('');
  expect(calls[1]!.args.slice(-4)).toEqual(['--region', 'us-east-2', '--require-approval', 'never']);
  expect(calls[1]).toMatchObject({ region: 'us-east-2' });
  const credentials = join(fixture.folder, 'credentials');
  writeFileSync(credentials, '[olga]\naws_access_key_id = AKIDOLGA\naws_secret_access_key = secret\n');
  const env = { AWS_SHARED_CREDENTIALS_FILE: credentials, ...noKeys };
  const named = await fixture.deploy(['--profile', 'olga'], { env });
  expect(named).toMatchObject({ code: 0, stdout: expect.stringContaining('export AWS_PROFILE=olga\n') });
  expect(named.calls[1]).toMatchObject({ profile: 'olga' });
  expect(named.calls[1]!.args.slice(-2)).toEqual(['--profile', 'olga']);
});

test('--at-once reaches the app, for this deployment alone', async () => {
  const atOnce = await fixture.deploy(['--at-once']);
  expect(atOnce.calls[1]!.args.join(' ')).toContain(' -c atOnce=true --region');
  expect((await fixture.deploy([])).calls[1]!.args.join(' ')).not.toContain('atOnce');
});

test('a stack without a model says so', async () => {
  const bare = { ...outputs, ModelEndpointName: '(none)' };
  const env = { STAND_IN_OUTPUTS: JSON.stringify({ [stackName]: bare }) };
  const { stdout } = await fixture.deploy([], { env });
  expect(stdout).toContain('It has no model yet');
});

describe('nothing is run, and one sentence says what to do, when', () => {
  test.each<[string, DeployOptions, string]>([
    ['the CDK is not installed', { env: { STAND_IN_NO_CDK: 'yes' } }, 'run "npm ci"'],
    ['there are no credentials', { env: noKeys }, 'sign in with'],
    ['no region is known', { env: { AWS_REGION: '' } }, 'name one with --region or AWS_REGION'],
    ['AWS refuses the credentials', { refusal: 'ExpiredToken' }, '(ExpiredToken): sign in again'],
    ['the account was never prepared for the CDK', { bootstrapped: 'no' }, 'add --bootstrap'],
    ['the account was half prepared for the CDK', { bootstrapped: 'halfway' }, 'add --bootstrap'],
  ])('%s', async (_, options, sentence) => {
    const { code, stderr, calls } = await fixture.deploy([], options);
    expect({ code, calls }).toEqual({ code: 1, calls: [] });
    expect(stderr).toMatch(/^error: .*\n$/);
    expect(stderr).toContain(sentence);
  });

  test('an option is wrong: each is named', async () => {
    fixture.configure({ stage: 'NO', retentionDay: 3 });
    const { code, stderr, calls } = await fixture.deploy([]);
    expect({ code, calls }).toEqual({ code: 1, calls: [] });
    expect(stderr).toContain('stage: must be');
    expect(stderr).toContain('there is no option retentionDay');
  });

  test('the file of options is not there, or is no JSON', async () => {
    writeFileSync(join(fixture.folder, 'broken.json'), '{');
    const [missing, broken] = ['none', 'broken'].map((name) => fixture.deploy(['--config', `${name}.json`]));
    const refusal = (sentence: string) => ({ code: 1, calls: [], stderr: expect.stringContaining(sentence) });
    expect(await missing).toMatchObject(refusal("can't be read"));
    expect(await broken).toMatchObject(refusal('is not valid JSON'));
  });

  test.each([[['--stage', 'x']], [['--region', 'Europe']], [['prod']]])(
    'it was not asked for rightly: %j',
    async (args) => {
      const { code, stderr, calls } = await fixture.deploy(args);
      expect({ code, calls }).toEqual({ code: 2, calls: [] });
      expect(stderr).toMatch(/^error: .*\n$/);
    },
  );
});

test('--bootstrap prepares an account that was never prepared, and leaves one alone that was', async () => {
  const first = await fixture.deploy(['--bootstrap'], { bootstrapped: 'no' });
  expect(roles(first.calls)).toEqual(['bootstrap', 'build', 'deploy']);
  expect(first.calls[0]!.args.join(' ')).toBe('bootstrap aws://123456789012/eu-west-1 --region eu-west-1');
  const second = await fixture.deploy(['--bootstrap']);
  expect(roles(second.calls)).toEqual(['build', 'deploy']);
});

test.each([
  ['bootstrap', ['bootstrap']],
  ['build', ['bootstrap', 'build']],
  ['deploy', ['bootstrap', 'build', 'deploy']],
])('a failing %s ends it with its own words and exit code', async (fails, ran) => {
  const options = { bootstrapped: 'no', env: { STAND_IN_FAILS: fails } } as const;
  const { code, stdout, stderr, calls } = await fixture.deploy(['--bootstrap'], options);
  expect({ code, stderr }).toEqual({ code: 7, stderr: 'the words of the program that failed\n' });
  expect(roles(calls)).toEqual(ran);
  expect(stdout).not.toContain('is deployed');
});

test('Ctrl-C is passed on, and it is said what that does not stop', async () => {
  const env = { STAND_IN_WAITS: 'deploy' };
  const { code, stdout } = await fixture.deploy([], { env, interruptAt: 'waiting' });
  expect(code).toBe(130);
  expect(stdout).toContain('waiting\ninterrupted\n');
  expect(stdout).toContain('What CloudFormation has begun goes on');
  expect(temporaryFolders()).toEqual([]);
});

test('a stack without the outputs it needs is no failed deployment', async () => {
  const { code, stderr } = await fixture.deploy([], { env: { STAND_IN_OUTPUTS: '{}' } });
  expect(code).toBe(1);
  expect(stderr).toContain('The stack is deployed, but it has no output BaseUrl');
});

const quotas = [{ name: 'ml.g6.xlarge for endpoint usage', code: 'L-3', value: 4 }];
const stacks = { [stackName]: {}, [modelStackName]: {} };
const account: StandInAccount = { quotas, stacks };
const changes = (asked: StandInAws['calls']) =>
  asked.filter(({ action }) => !/^(Get|List|Describe)/.test(action));

describe('with a model of its own', () => {
  test('all stacks are deployed by one command of the CDK, which orders them', async () => {
    fixture.configure(withModel);
    const { code, stdout, stderr, calls } = await fixture.deploy([], account);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(calls[1]!.args.slice(0, 4)).toEqual(['deploy', networkStackName, modelStackName, stackName]);
    expect(calls[1]!.args).not.toContain('--exclusively');
    expect(stdout).toContain(`Deploying ${networkStackName}, ${modelStackName}, ${stackName} to account`);
  });

  test.each([
    ['service', [stackName], outputs.BaseUrl],
    ['model', [networkStackName, modelStackName], `${stackName} uses it from its own next deployment on`],
  ])('--only %s deploys nothing else', async (part, names, said) => {
    fixture.configure(withModel);
    const { code, stdout, calls } = await fixture.deploy(['--only', part], account);
    expect(code).toBe(0);
    expect(calls[1]!.args.slice(0, names.length + 2)).toEqual(['deploy', ...names, '--outputs-file']);
    expect(calls[1]!.args).toContain('--exclusively');
    expect(stdout).toContain(said);
  });

  test('--only model needs one', async () => {
    const { code, stderr, calls } = await fixture.deploy(['--only', 'model']);
    expect({ code, calls }).toEqual({ code: 2, calls: [] });
    expect(stderr).toContain('"inference": {"kind": "endpoint", …}');
  });
});

test('what stops the deployment is said before anything is run, all of it', async () => {
  fixture.configure(withModel);
  const { code, stdout, stderr, calls, asked } = await fixture.deploy([], {
    concurrency: 10,
    quotas: [{ ...quotas[0]!, value: 0 }],
    stacks: { ...stacks, [stackName]: { status: 'UPDATE_IN_PROGRESS' } },
  });
  expect({ code, calls, changes: changes(asked) }).toEqual({ code: 1, calls: [], changes: [] });
  expect(stdout).toContain('note: The account may run 10 functions at once');
  expect(stderr.trimEnd().split('\n')).toEqual([
    expect.stringMatching(/^error: .*UPDATE_IN_PROGRESS/),
    expect.stringMatching(/^error: .*quota for ml\.g6\.xlarge/),
  ]);
});

test('a stack whose first creation failed loses its protection, so that the CDK can replace it', async () => {
  const { code, stdout, calls, asked } = await fixture.deploy([], {
    stacks: { [stackName]: { status: 'ROLLBACK_COMPLETE' } },
  });
  expect(code).toBe(0);
  expect(changes(asked)).toEqual([{ action: 'UpdateTerminationProtection', stack: stackName }]);
  expect(stdout).toContain(`The termination protection of ${stackName} is lifted`);
  expect(roles(calls)).toEqual(['build', 'deploy']);
});

test('where old stores are left, --new-data makes new ones', async () => {
  const arn = 'arn:aws:dynamodb:eu-west-1:123456789012:table/prod-Records';
  const left = [{ arn, stack: stackName, data: true }];
  const refused = await fixture.deploy([], { stacks: {}, left });
  expect(refused).toMatchObject({ code: 1, calls: [], stderr: expect.stringContaining(arn) });
  const accepted = await fixture.deploy(['--new-data'], { stacks: {}, left });
  expect(accepted).toMatchObject({ code: 0, stdout: expect.stringContaining(arn) });
});

test('an old model is deleted only after the service was deployed', async () => {
  const old = `${stackName}-model-g5-xlarge`;
  const withOld = { ...account, stacks: { ...stacks, [old]: { description: modelDescription } } };
  fixture.configure(withModel);
  const failed = await fixture.deploy(['--yes'], { ...withOld, env: { STAND_IN_FAILS: 'deploy' } });
  expect({ code: failed.code, changes: changes(failed.asked) }).toEqual({ code: 7, changes: [] });
  const alone = await fixture.deploy(['--yes', '--only', 'model'], withOld);
  expect({ code: alone.code, changes: changes(alone.asked) }).toEqual({ code: 0, changes: [] });
  const { code, asked, stdout } = await fixture.deploy(['--yes'], withOld);
  expect(code).toBe(0);
  expect(changes(asked).map(({ stack }) => stack)).toEqual([arnOf(old), arnOf(old)]);
  expect(stdout.indexOf(old)).toBeGreaterThan(stdout.indexOf(outputs.BaseUrl));
});
