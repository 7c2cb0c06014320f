import { describe, expect, test } from '@jest/globals';
import { asked, deployed, lines, linesFor, type Asked } from './asked.ts';
import { withModel } from './plan.ts';
import { modelStackName, stackName } from './stand-in-aws.ts';

test('an account where nothing is in the way has nothing to note, and nothing is changed', async () => {
  const { findings, neverCreated, accountConcurrency, calls } = await asked({});
  expect({ findings, neverCreated, accountConcurrency }).toEqual({
    findings: [],
    neverCreated: [],
    accountConcurrency: 1000,
  });
  expect(calls.every(({ action }) => /^(Get|List|Describe)/.test(action))).toBe(true);
});

describe("Lambda's concurrent executions", () => {
  test.each([10, 999])('%i are noted, with what they mean and how to get more', async (concurrency) => {
    const [found, ...others] = await linesFor({ concurrency });
    expect(others).toEqual([]);
    expect(found).toMatch(/^note: /);
    expect(found).toContain(`at most ${concurrency} generations can run at once`);
    expect(found).toContain('--quota-code L-B99A9384 --desired-value 1000 --region eu-west-1');
  });

  test('the app is told the number, or nothing where AWS does not tell', async () => {
    expect(await asked({ concurrency: 10 })).toMatchObject({ accountConcurrency: 10 });
    expect(await asked({ denied: ['GetAccountSettings'] })).toMatchObject({ accountConcurrency: null });
  });
});

describe('CloudFront', () => {
  test('a first deployment is told what an unverified account meets', async () => {
    expect(await linesFor({ stacks: {} })).toEqual([
      expect.stringMatching(/^note: .*"Your account must be verified/),
    ]);
  });

  test('a model alone needs no distribution', async () => {
    const world = { configuration: withModel, only: 'model', stacks: {} } as const;
    expect((await linesFor(world)).join()).not.toContain('CloudFront');
  });
});

describe('the states of a stack', () => {
  const stateOf = async (status: string) => {
    const found = await asked({ stacks: { [stackName]: { status } } });
    return { found: lines(found).filter((line) => line.includes(status)), ...found };
  };

  test.each(['CREATE_COMPLETE', 'UPDATE_COMPLETE', 'UPDATE_ROLLBACK_COMPLETE'])(
    '%s: it is brought up to date',
    async (status) => expect(await stateOf(status)).toMatchObject({ found: [], neverCreated: [] }),
  );

  test.each(['ROLLBACK_COMPLETE', 'ROLLBACK_FAILED'])(
    '%s: its protection is to be lifted, and it is created again',
    async (status) => {
      const { found, neverCreated } = await stateOf(status);
      expect(found).toEqual([
        expect.stringMatching(/^note: .*its termination protection is lifted for that/),
      ]);
      expect(neverCreated).toEqual([stackName]);
    },
  );

  test('a failed first creation without protection needs nothing', async () => {
    const stacks = { [stackName]: { status: 'ROLLBACK_COMPLETE', isProtected: false } };
    const { neverCreated } = await asked({ stacks });
    expect(neverCreated).toEqual([]);
  });

  test.each([
    ['UPDATE_IN_PROGRESS', 'Deploy again when the state no longer ends in IN_PROGRESS'],
    ['DELETE_IN_PROGRESS', 'Deploy again when the state no longer ends in IN_PROGRESS'],
    ['UPDATE_ROLLBACK_FAILED', `npx cdk rollback ${stackName} --region eu-west-1`],
    ['DELETE_FAILED', `delete-stack --stack-name ${stackName}`],
    ['IMPORT_ROLLBACK_FAILED', 'docs/deploying.md#taking-data-back'],
  ])('%s: it is not touched, and it is said what to do', async (status, wayOut) => {
    const { found, neverCreated } = await stateOf(status);
    expect(found).toEqual([expect.stringMatching(/^stop: /)]);
    expect(found[0]).toContain(wayOut);
    expect(neverCreated).toEqual([]);
  });

  test("only the stacks that are deployed count, but the service needs the model's", async () => {
    const busyModel = { [stackName]: deployed, [modelStackName]: { status: 'UPDATE_IN_PROGRESS' } };
    const world = { configuration: withModel, only: 'service' } as const;
    expect(await linesFor({ ...world, stacks: busyModel })).toEqual([]);
    for (const stacks of [{}, { [modelStackName]: { status: 'ROLLBACK_COMPLETE' } }]) {
      expect(await linesFor({ ...world, stacks })).toContainEqual(
        expect.stringMatching(/^stop: .*is not there yet: deploy without --only/),
      );
    }
  });
});

describe('what an earlier deployment has left', () => {
  const table = 'arn:aws:dynamodb:eu-west-1:123456789012:table/prod-Records';
  const pool = 'arn:aws:cognito-idp:eu-west-1:123456789012:userpool/eu-west-1_Old';
  const role = 'arn:aws:iam::123456789012:role/gateway';
  const logs = (name: string) => `arn:aws:logs:eu-west-1:123456789012:log-group:${name}`;
  const left = [
    { arn: role, stack: stackName, logicalId: 'ApiRole' },
    { arn: table, stack: stackName, logicalId: 'RecordsTableABC' },
    { arn: pool, stack: stackName, logicalId: 'AccountsUserPoolABC' },
    { arn: `${table}-staging`, stack: 'image-generation-staging', logicalId: 'RecordsTableABC' },
  ];
  const found = async (world: Asked) =>
    (await linesFor({ stacks: {}, tagged: left, ...world })).filter((line) => line.includes(table));

  test('data stops a new stack, which would have empty stores', async () => {
    const [finding, ...others] = await found({});
    expect(others).toEqual([]);
    expect(finding).toMatch(/^stop: .*no account, key or image of before would be found/);
    expect(finding).toContain(`${table}, ${pool}. A deployment`);
    expect(finding).toContain('docs/deploying.md#taking-data-back');
  });

  test('--new-data goes on, and names what is not used', async () => {
    expect(await found({ newData: true })).toEqual([expect.stringMatching(/^note: .*does not use them/)]);
  });

  test('a failed first creation stops too: a failed import of full stores looks the same', async () => {
    const stacks = { [stackName]: { status: 'ROLLBACK_COMPLETE' } };
    expect(await found({ stacks })).toEqual([
      expect.stringMatching(/^stop: .*go on with new ones by --new-data/),
    ]);
    expect(await found({ stacks, newData: true })).toEqual([expect.stringMatching(/^note: /)]);
  });

  test('what belongs to a stack that is there is in use', async () => {
    const { findings, calls } = await asked({ tagged: left });
    expect(findings).toEqual([]);
    expect(calls.map(({ action }) => action)).not.toContain('GetResources');
  });

  test('logs that it left on purpose are in nobody’s way', async () => {
    const tagged = ['CreateGenerationLogABC', 'ApiAccessLogABC', 'ApiExecutionLogABC'].map((logicalId) => {
      return { arn: logs(`${stackName}-${logicalId}-XYZ`), stack: stackName, logicalId };
    });
    expect(await linesFor({ stacks: {}, tagged })).toEqual(await linesFor({ stacks: {} }));
  });

  test('a log group whose name the new stack needs stops it; another does not', async () => {
    const taken = `/aws/sagemaker/Endpoints/${modelStackName}`;
    const tagged = [
      { arn: logs(`${taken}:*`), stack: modelStackName, logicalId: 'Logs' },
      { arn: logs('/aws/lambda/other'), stack: modelStackName, logicalId: 'OtherLogs' },
    ];
    const world = { configuration: withModel, stacks: { [stackName]: deployed }, tagged };
    const stops = (await linesFor(world)).filter((line) => line.startsWith('stop'));
    expect(stops).toEqual([
      expect.stringContaining(`logs delete-log-group --log-group-name ${taken} --region`),
    ]);
    const failed = {
      ...world,
      stacks: { [stackName]: deployed, [modelStackName]: { status: 'ROLLBACK_COMPLETE' } },
    };
    expect((await linesFor(failed)).filter((line) => line.startsWith('stop'))).toEqual([]);
  });
});

describe('a stack that took data back', () => {
  const all = ['RecordsTableABC', 'ImagesBucketABC', 'AccountsUserPoolABC'];
  const found = (status: string, resources: string[], newData = false) =>
    linesFor({ stacks: { [stackName]: { status } }, resources, newData });

  test.each(['IMPORT_COMPLETE', 'IMPORT_ROLLBACK_COMPLETE'])(
    '%s: it must have all stores',
    async (status) => {
      expect(await found(status, all)).toEqual([]);
      expect(await found(status, all.slice(0, 1))).toEqual([
        expect.stringMatching(/^stop: .*it lacks the bucket of images, the user pool\. /),
      ]);
      expect(await found(status, [], true)).toEqual([]);
    },
  );

  test('once it was deployed, nothing is asked of it', async () => {
    expect(await found('UPDATE_COMPLETE', [])).toEqual([]);
  });
});

describe('a check that cannot be made stops nothing, and says why', () => {
  const world = { configuration: withModel, stacks: { [modelStackName]: deployed } };

  test.each([
    ['GetAccountSettings', 'how many functions', 'lambda:GetAccountSettings'],
    ['ListServiceQuotas', 'quota', 'servicequotas:ListServiceQuotas'],
    ['GetResources', 'left anything', 'tag:GetResources'],
    ['DescribeStacks', 'in which state', 'cloudformation:DescribeStacks'],
  ])('%s is not permitted', async (action, subject, permission) => {
    const found = await linesFor({ ...world, denied: [action] });
    expect(found.filter((line) => line.startsWith('stop'))).toEqual([]);
    const line = found.find((one) => one.includes(permission));
    expect(line).toMatch(/^note: It was not checked .*: these credentials lack the permission /);
    expect(line).toContain(subject);
  });

  test('AWS does not answer', async () => {
    const found = await linesFor({ hanging: ['GetAccountSettings'], timeLimitMs: 1500 });
    expect(found).toEqual([
      expect.stringMatching(
        /^note: .* none are reserved for the sweep.*: AWS did not answer within 1\.5 seconds\.$/,
      ),
    ]);
  });
});
