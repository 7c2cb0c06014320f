import { describe, expect, test } from '@jest/globals';
import { withModel } from './plan.ts';
import {
  arnOf,
  modelDescription,
  modelStackName,
  stackName,
  type StandInAccount,
  type StandInAws,
} from './stand-in-aws.ts';
import { outputs, useDeploy } from './fixture.ts';

const world = useDeploy();
const quotas = [{ name: 'ml.g6.xlarge for endpoint usage', code: 'L-3', value: 4 }];
const stacks = { [stackName]: {}, [modelStackName]: {} };
const account: StandInAccount = { quotas, stacks };
const changes = (asked: StandInAws['calls']) =>
  asked.filter(({ action }) => !/^(Get|List|Describe)/.test(action));

describe('with a model of its own', () => {
  test('both stacks are deployed by one command of the CDK, which orders them', async () => {
    world.configure(withModel);
    const { code, stdout, stderr, calls } = await world.deploy([], account);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(calls[1]!.args.slice(0, 3)).toEqual(['deploy', modelStackName, stackName]);
    expect(calls[1]!.args).not.toContain('--exclusively');
    expect(stdout).toContain(`Deploying ${modelStackName} and ${stackName} to account`);
  });

  test.each([
    ['service', stackName, outputs.BaseUrl],
    ['model', modelStackName, `${stackName} uses it from its own next deployment on`],
  ])('--only %s deploys that stack alone', async (part, name, said) => {
    world.configure(withModel);
    const { code, stdout, calls } = await world.deploy(['--only', part], account);
    expect(code).toBe(0);
    expect(calls[1]!.args.slice(0, 3)).toEqual(['deploy', name, '--outputs-file']);
    expect(calls[1]!.args).toContain('--exclusively');
    expect(stdout).toContain(said);
  });

  test('--only model needs one', async () => {
    const { code, stderr, calls } = await world.deploy(['--only', 'model']);
    expect({ code, calls }).toEqual({ code: 2, calls: [] });
    expect(stderr).toContain('"inference": {"kind": "endpoint", …}');
  });
});

test('what stops the deployment is said before anything is run, all of it', async () => {
  world.configure(withModel);
  const { code, stdout, stderr, calls, asked } = await world.deploy([], {
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
  const { code, stdout, calls, asked } = await world.deploy([], {
    stacks: { [stackName]: { status: 'ROLLBACK_COMPLETE' } },
  });
  expect(code).toBe(0);
  expect(changes(asked)).toEqual([{ action: 'UpdateTerminationProtection', stack: stackName }]);
  expect(stdout).toContain(`The termination protection of ${stackName} is lifted`);
  expect(calls.map(({ args }) => args[0])).toEqual(['build', 'deploy']);
});

test('where old stores are left, --new-data makes new ones', async () => {
  const arn = 'arn:aws:dynamodb:eu-west-1:123456789012:table/prod-Records';
  const tagged = [{ arn, stack: stackName, logicalId: 'RecordsTableABC' }];
  const refused = await world.deploy([], { stacks: {}, tagged });
  expect(refused).toMatchObject({ code: 1, calls: [], stderr: expect.stringContaining(arn) });
  const accepted = await world.deploy(['--new-data'], { stacks: {}, tagged });
  expect(accepted).toMatchObject({ code: 0, stdout: expect.stringContaining(arn) });
});

test('an old model is deleted only after the service was deployed', async () => {
  const old = `${stackName}-model-g5-xlarge`;
  const withOld = { ...account, stacks: { ...stacks, [old]: { description: modelDescription } } };
  world.configure(withModel);
  const failed = await world.deploy(['--yes'], { ...withOld, env: { STAND_IN_FAILS: 'deploy' } });
  expect({ code: failed.code, changes: changes(failed.asked) }).toEqual({ code: 7, changes: [] });
  const alone = await world.deploy(['--yes', '--only', 'model'], withOld);
  expect({ code: alone.code, changes: changes(alone.asked) }).toEqual({ code: 0, changes: [] });
  const { code, asked, stdout } = await world.deploy(['--yes'], withOld);
  expect(code).toBe(0);
  expect(changes(asked).map(({ stack }) => stack)).toEqual([arnOf(old), arnOf(old)]);
  expect(stdout.indexOf(old)).toBeGreaterThan(stdout.indexOf(outputs.BaseUrl));
});
