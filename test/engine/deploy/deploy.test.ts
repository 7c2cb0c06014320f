import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { stackName } from './stand-in-aws.ts';
import { outputs, useDeploy } from './fixture.ts';

const world = useDeploy();

const roles = (calls: { args: string[] }[]) => calls.map(({ args }) => args[0]);
const temporaryFolders = () => readdirSync(world.folder).filter((name) => name.startsWith('image-'));

test('the dashboard is built, the stack deployed, and then it is said where the service is', async () => {
  const { code, stdout, stderr, calls } = await world.deploy([]);
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
  expect(readdirSync(world.root)).toEqual(['cdk.json']);
});

test('the stage names the stack, and a file of options is passed on to the app by its whole path', async () => {
  world.configure({ stage: 'wrong' });
  const path = join(world.folder, 'options.json');
  writeFileSync(path, JSON.stringify({ stage: 'trial' }));
  const env = { STAND_IN_OUTPUTS: JSON.stringify({ 'image-generation-trial': outputs }) };
  const { code, calls } = await world.deploy(['--config', 'options.json'], { env });
  expect(code).toBe(0);
  expect(calls[1]!.args[1]).toBe('image-generation-trial');
  expect(calls[1]!.args.join(' ')).toContain(`-c config=${path}`);
});

test('--yes, --profile and --region reach the CDK', async () => {
  // Without a file of profiles, only the keys in the environment are there; STS is a stand-in either way.
  const { calls, stderr } = await world.deploy(['--yes', '--region', 'us-east-2']);
  expect(stderr).toBe('');
  expect(calls[1]!.args.slice(-4)).toEqual(['--region', 'us-east-2', '--require-approval', 'never']);
  expect(calls[1]).toMatchObject({ region: 'us-east-2' });
  const credentials = join(world.folder, 'credentials');
  writeFileSync(credentials, '[olga]\naws_access_key_id = AKIDOLGA\naws_secret_access_key = secret\n');
  const env = { AWS_SHARED_CREDENTIALS_FILE: credentials, AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' };
  const named = await world.deploy(['--profile', 'olga'], { env });
  expect(named).toMatchObject({ code: 0, stdout: expect.stringContaining('export AWS_PROFILE=olga\n') });
  expect(named.calls[1]).toMatchObject({ profile: 'olga' });
  expect(named.calls[1]!.args.slice(-2)).toEqual(['--profile', 'olga']);
});

test('a stack without a model says so', async () => {
  const bare = { ...outputs, ModelEndpointName: '(none)' };
  const env = { STAND_IN_OUTPUTS: JSON.stringify({ [stackName]: bare }) };
  const { stdout } = await world.deploy([], { env });
  expect(stdout).toContain('It has no model yet');
});

describe('nothing is run, and one sentence says what to do, when', () => {
  test.each([
    ['the CDK is not installed', { STAND_IN_NO_CDK: 'yes' }, 'run "npm ci"'],
    ['there are no credentials', { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' }, 'sign in with'],
    ['no region is known', { AWS_REGION: '' }, 'name one with --region or AWS_REGION'],
  ])('%s', async (_, env, sentence) => {
    const { code, stderr, calls } = await world.deploy([], { env });
    expect({ code, calls }).toEqual({ code: 1, calls: [] });
    expect(stderr).toMatch(/^error: .*\n$/);
    expect(stderr).toContain(sentence);
  });

  test('AWS refuses the credentials', async () => {
    const { code, stderr, calls } = await world.deploy([], { refusal: 'ExpiredToken' });
    expect({ code, calls }).toEqual({ code: 1, calls: [] });
    expect(stderr).toMatch(/^error: AWS refused the credentials \(ExpiredToken\w*\): sign in again/);
  });

  test('the account was never prepared for the CDK', async () => {
    for (const bootstrapped of ['no', 'halfway'] as const) {
      const { code, stderr, calls } = await world.deploy([], { bootstrapped });
      expect({ code, calls }).toEqual({ code: 1, calls: [] });
      expect(stderr).toContain('add --bootstrap');
    }
  });

  test('an option is wrong: each is named', async () => {
    world.configure({ stage: 'NO', retentionDay: 3 });
    const { code, stderr, calls } = await world.deploy([]);
    expect({ code, calls }).toEqual({ code: 1, calls: [] });
    expect(stderr).toContain('stage: must be');
    expect(stderr).toContain('there is no option retentionDay');
  });

  test('the file of options is not there, or is no JSON', async () => {
    writeFileSync(join(world.folder, 'broken.json'), '{');
    const [missing, broken] = [
      await world.deploy(['--config', 'none.json']),
      await world.deploy(['--config', 'broken.json']),
    ];
    expect(missing).toMatchObject({ code: 1, calls: [], stderr: expect.stringContaining("can't be read") });
    expect(broken).toMatchObject({
      code: 1,
      calls: [],
      stderr: expect.stringContaining('is not valid JSON'),
    });
  });

  test.each([[['--stage', 'x']], [['--region', 'Europe']], [['prod']]])(
    'it was not asked for rightly: %j',
    async (args) => {
      const { code, stderr, calls } = await world.deploy(args);
      expect({ code, calls }).toEqual({ code: 2, calls: [] });
      expect(stderr).toMatch(/^error: .*\n$/);
    },
  );
});

test('--bootstrap prepares an account that was never prepared, and leaves one alone that was', async () => {
  const first = await world.deploy(['--bootstrap'], { bootstrapped: 'no' });
  expect(roles(first.calls)).toEqual(['bootstrap', 'build', 'deploy']);
  expect(first.calls[0]!.args).toEqual([
    'bootstrap',
    'aws://123456789012/eu-west-1',
    '--region',
    'eu-west-1',
  ]);
  const second = await world.deploy(['--bootstrap']);
  expect(roles(second.calls)).toEqual(['build', 'deploy']);
});

test.each([
  ['bootstrap', ['bootstrap']],
  ['build', ['bootstrap', 'build']],
  ['deploy', ['bootstrap', 'build', 'deploy']],
])('a failing %s ends it with its own words and exit code', async (fails, ran) => {
  const options = { bootstrapped: 'no', env: { STAND_IN_FAILS: fails } } as const;
  const { code, stdout, stderr, calls } = await world.deploy(['--bootstrap'], options);
  expect({ code, stderr }).toEqual({ code: 7, stderr: 'the words of the program that failed\n' });
  expect(roles(calls)).toEqual(ran);
  expect(stdout).not.toContain('is deployed');
});

test('Ctrl-C is passed on, and it is said what that does not stop', async () => {
  const env = { STAND_IN_WAITS: 'deploy' };
  const { code, stdout } = await world.deploy([], { env, interruptAt: 'waiting' });
  expect(code).toBe(130);
  expect(stdout).toContain('waiting\ninterrupted\n');
  expect(stdout).toContain('What CloudFormation has begun goes on');
  expect(temporaryFolders()).toEqual([]);
});

test('a stack without the outputs it needs is told apart from a failed deployment', async () => {
  const { code, stderr } = await world.deploy([], { env: { STAND_IN_OUTPUTS: '{}' } });
  expect(code).toBe(1);
  expect(stderr).toContain('The stack is deployed, but it has no output BaseUrl');
});
