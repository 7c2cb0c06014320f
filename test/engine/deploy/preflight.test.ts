import { describe, expect, test } from '@jest/globals';
import { stacksToDeploy, type Part } from '../../../bin/deploy/deployment.ts';
import { preflight } from '../../../bin/deploy/preflight/preflight.ts';
import { deploymentFor, inAccount, withModel } from './plan.ts';
import {
  modelDescription as description,
  modelStackName,
  stackName,
  type StandInAccount,
} from './stand-in-aws.ts';

const deployed = { status: 'UPDATE_COMPLETE' };

interface Asked extends StandInAccount {
  configuration?: unknown;
  only?: Part;
  newData?: boolean;
  timeLimitMs?: number;
}

/** What a deployment into such an account finds beforehand, and what it asked. */
async function asked({ configuration = {}, only, newData = false, timeLimitMs, ...account }: Asked) {
  const deployment = deploymentFor(configuration);
  const targets = stacksToDeploy(deployment, only);
  return inAccount(
    account,
    async (aws, calls) => ({ ...(await preflight({ aws, deployment, targets, newData })), calls }),
    timeLimitMs,
  );
}

async function linesFor(account: Asked): Promise<string[]> {
  const { findings } = await asked(account);
  return findings.map(({ stops, sentence }) => `${stops ? 'stop' : 'note'}: ${sentence}`);
}

/** An account, and what a deployment into it finds: the beginning of each line, and words of its one or first line. */
type Row = [what: string, account: Asked, found: RegExp[], ...words: string[]];

const stateOf = (status: string, more: Asked = {}): Asked => ({
  stacks: { [stackName]: { status } },
  ...more,
});
const notDone = (subject: string, permission: string) =>
  new RegExp(
    `^note: It was not checked .*${subject}.*: these credentials lack the permission .*${permission}`,
  );

const states: Row[] = [
  ...['CREATE_COMPLETE', 'UPDATE_COMPLETE', 'UPDATE_ROLLBACK_COMPLETE'].map((status): Row => [
    `${status}: it is brought up to date`,
    stateOf(status),
    [],
  ]),
  ...['ROLLBACK_COMPLETE', 'ROLLBACK_FAILED'].map((status): Row => [
    `${status}: its protection is to be lifted, and it is created again`,
    stateOf(status),
    [/^note: .*its termination protection is lifted for that/, /CloudFront/],
  ]),
  ...(
    [
      ['UPDATE_IN_PROGRESS', 'Deploy again when the state no longer ends in IN_PROGRESS'],
      ['DELETE_IN_PROGRESS', 'Deploy again when the state no longer ends in IN_PROGRESS'],
      ['UPDATE_ROLLBACK_FAILED', `npx cdk rollback ${stackName} --region eu-west-1`],
      ['DELETE_FAILED', `delete-stack --stack-name ${stackName}`],
      ['IMPORT_ROLLBACK_FAILED', 'docs/deploying.md#taking-data-back'],
    ] as const
  ).map(([status, wayOut]): Row => [
    `${status}: it is not touched, and it is said what to do`,
    stateOf(status),
    [/^stop: /],
    wayOut,
  ]),
];

const service = [10, 999].map((concurrency): Row => [
  `${concurrency} functions at once: noted, with what they mean and how to get more`,
  { concurrency },
  [/^note: /],
  `at most ${concurrency} generations can run at once`,
  '--quota-code L-B99A9384 --desired-value 1000 --region eu-west-1',
]);

const mail = { configuration: { mail: { from: 'no-reply@example.com' } } };
const verified = { ...mail, mailIdentities: { 'example.com': 'SUCCESS' } };
const mails: Row[] = [
  ['the domain of the mails is verified', verified, []],
  [
    'their address alone is verified',
    { ...mail, mailIdentities: { 'no-reply@example.com': 'SUCCESS', 'example.com': 'FAILED' } },
    [],
  ],
  [
    'SES does not know their address: the command begins its proof',
    mail,
    [/^stop: .*would refuse every e-mail from no-reply@example\.com/],
    'aws sesv2 create-email-identity --email-identity example.com --region eu-west-1',
    'docs/deploying.md#e-mails',
  ],
  ...['PENDING', 'FAILED', 'NOT_STARTED'].map((status): Row => [
    `their domain is ${status}: what to wait for`,
    { ...mail, mailIdentities: { 'example.com': status } },
    [/^stop: .*waits for its proof.*once VerifiedForSendingStatus is true/],
    'aws sesv2 get-email-identity --email-identity example.com --region eu-west-1',
  ]),
  [
    'their domain was verified and is not found in DNS for a while: that keeps no fix waiting',
    { ...mail, mailIdentities: { 'example.com': 'TEMPORARY_FAILURE' } },
    [/^note: .*DKIM records are still in the domain's DNS/],
  ],
  [
    'SES is in the sandbox',
    { ...verified, mailAccount: { ProductionAccessEnabled: false } },
    [/^note: .*customers get no e-mails.*--production-access-enabled/],
  ],
  ['SES is paused', { ...verified, mailAccount: { SendingEnabled: false } }, [/^note: .*paused sending/]],
  [
    'SES sends to who complained',
    { ...verified, mailAccount: { SuppressedReasons: ['BOUNCE'] } },
    [/^note: .*--suppressed-reasons BOUNCE COMPLAINT --region/],
  ],
  [
    'SES sends to addresses that bounce',
    { ...verified, mailAccount: { SuppressedReasons: ['COMPLAINT'] } },
    [/^note: .*--suppressed-reasons/],
  ],
  ...['GetEmailIdentity', 'GetAccount'].map((action): Row => [
    `${action} is not permitted`,
    { ...verified, denied: [action] },
    [/^note: It was not checked whether SES.*ses:GetEmailIdentity and ses:GetAccount/],
  ]),
];

const quotaOf = (value: number) => ({ name: 'ml.g6.xlarge for endpoint usage', code: 'L-3', value });
const otherQuotas = [
  { name: 'ml.g5.xlarge for endpoint usage', code: 'L-1', value: 9 },
  { name: 'ml.g6.xlarge for training job usage', code: 'L-2', value: 9 },
];
const quotas = (value: number) => [...otherQuotas, quotaOf(value)];
const both = { [stackName]: deployed, [modelStackName]: deployed };
const model = { configuration: withModel, stacks: both };
const withInference = (changes: object) => ({ inference: { ...withModel.inference, ...changes } });
const asleep = { configuration: withInference({ minInstances: 0 }) };
const asleepName = `${modelStackName}-zero`;
const used = { ...deployed, description };
const beside = (name: string, other: string) =>
  new RegExp(`^note: ${name} is made beside ${other}: SageMaker can't `);
const models: Row[] = [
  [
    'too few instances for the first one',
    { ...model, quotas: quotas(0) },
    [/^stop: The account's quota for ml\.g6\.xlarge in eu-west-1 is 0, /],
    'docs/deploying.md#first-none-then-the-model',
    '--service-code sagemaker --quota-code L-3 --desired-value 4 --region',
  ],
  [
    'a model that sleeps needs one to wake',
    { ...asleep, stacks: { [stackName]: deployed, [asleepName]: deployed }, quotas: quotas(0) },
    [/^stop: .* is 0, and the endpoint needs 1 to start\./],
  ],
  [
    'a quota that was never changed is found among the defaults',
    { ...model, defaultQuotas: quotas(0) },
    [/^stop: .* is 0, /],
  ],
  [
    'one that was changed goes before the default',
    { ...model, quotas: quotas(4), defaultQuotas: quotas(0) },
    [],
  ],
  [
    'another one that was changed says nothing',
    { ...model, quotas: otherQuotas, defaultQuotas: [quotaOf(4), ...otherQuotas] },
    [],
  ],
  ...[1, 3].map((value): Row => [
    `${value}, too few for a later deployment, are noted`,
    { ...model, quotas: quotas(value) },
    [new RegExp(`^note: .* is ${value}\\. .* up to 4 `)],
  ]),
  ['a type that AWS has no quota for', model, [/^note: AWS has no quota for ml\.g6\.xlarge/]],
  [
    'a model that may sleep, beside the one that the service uses: until when both cost',
    { ...asleep, stacks: { ...both, [modelStackName]: used }, quotas: quotas(9) },
    [beside(asleepName, modelStackName)],
    `Both cost money until ${stackName} uses the new one`,
  ],
  [
    'a model of another type beside it',
    {
      configuration: withInference({ instanceType: 'ml.g5.xlarge' }),
      stacks: { ...both, [modelStackName]: used },
      quotas: quotas(9),
    },
    [beside(`${stackName}-model-g5-xlarge`, modelStackName)],
  ],
  [
    'a model that never sleeps beside one that may',
    { configuration: withModel, stacks: { [stackName]: deployed, [asleepName]: used }, quotas: quotas(9) },
    [beside(modelStackName, asleepName)],
  ],
  [
    'both are there',
    { ...asleep, stacks: { ...both, [modelStackName]: used, [asleepName]: used }, quotas: quotas(9) },
    [],
  ],
  ['the model is the first', { ...asleep, stacks: { [stackName]: deployed }, quotas: quotas(9) }, []],
  [
    'only the service is deployed: its busy model is in nobody’s way',
    {
      configuration: withModel,
      only: 'service',
      stacks: { ...both, [modelStackName]: { status: 'UPDATE_IN_PROGRESS' } },
    },
    [],
  ],
  [
    'only the service is deployed, whose model was never created',
    { configuration: withModel, only: 'service', stacks: { [stackName]: deployed } },
    [/^stop: .*is not there yet: deploy without --only/],
  ],
];

const table = 'arn:aws:dynamodb:eu-west-1:123456789012:table/prod-Records';
const pool = 'arn:aws:cognito-idp:eu-west-1:123456789012:userpool/eu-west-1_Old';
const logs = (name: string) => `arn:aws:logs:eu-west-1:123456789012:log-group:${name}`;
const tagged = [
  { arn: 'arn:aws:iam::123456789012:role/gateway', stack: stackName, logicalId: 'ApiRole' },
  { arn: table, stack: stackName, logicalId: 'RecordsTableABC' },
  { arn: pool, stack: stackName, logicalId: 'AccountsUserPoolABC' },
  { arn: `${table}-staging`, stack: 'image-generation-staging', logicalId: 'RecordsTableABC' },
];
const cloudFront = /^note: .*"Your account must be verified/;
const lifted = /its termination protection is lifted/;
const takenLogs = `/aws/sagemaker/Endpoints/${modelStackName}`;
const withLogs = {
  configuration: withModel,
  quotas: quotas(4),
  tagged: [
    { arn: logs(`${takenLogs}:*`), stack: modelStackName, logicalId: 'Logs' },
    { arn: logs('/aws/lambda/other'), stack: modelStackName, logicalId: 'OtherLogs' },
  ],
};
const left: Row[] = [
  ['a first deployment is told what an unverified account meets', { stacks: {} }, [cloudFront]],
  [
    'data stops a new stack, which would have empty stores',
    { stacks: {}, tagged },
    [/^stop: .*no account, key or image of before would be found/, cloudFront],
    `${table}, ${pool}. A deployment`,
    'docs/deploying.md#taking-data-back',
  ],
  [
    '--new-data goes on, and names what is not used',
    { stacks: {}, tagged, newData: true },
    [/^note: .*does not use them/, cloudFront],
    table,
  ],
  [
    'a failed first creation stops too: a failed import of full stores looks the same',
    stateOf('ROLLBACK_COMPLETE', { tagged }),
    [/^stop: .*go on with new ones by --new-data/, lifted, cloudFront],
    table,
  ],
  [
    '--new-data goes on after it',
    stateOf('ROLLBACK_COMPLETE', { tagged, newData: true }),
    [/^note: .*does not use them/, lifted, cloudFront],
  ],
  ['what belongs to a stack that is there is in use', { tagged }, []],
  [
    'logs that it left on purpose are in nobody’s way',
    {
      stacks: {},
      tagged: ['CreateGenerationLogABC', 'ApiAccessLogABC', 'ApiExecutionLogABC'].map((logicalId) => {
        return { arn: logs(`${stackName}-${logicalId}-XYZ`), stack: stackName, logicalId };
      }),
    },
    [cloudFront],
  ],
  [
    'a log group whose name the new stack needs stops it; another does not',
    { ...withLogs, stacks: { [stackName]: deployed } },
    [/^stop: /],
    `logs delete-log-group --log-group-name ${takenLogs} --region`,
  ],
  [
    'a log group of a stack that is there stops nothing',
    { ...withLogs, stacks: { [stackName]: deployed, [modelStackName]: { status: 'ROLLBACK_COMPLETE' } } },
    [lifted],
  ],
  ...['IMPORT_COMPLETE', 'IMPORT_ROLLBACK_COMPLETE'].flatMap((status): Row[] => {
    const resources = ['RecordsTableABC', 'ImagesBucketABC', 'AccountsUserPoolABC'];
    return [
      [`${status} with all stores`, stateOf(status, { resources }), []],
      [
        `${status} without some of them`,
        stateOf(status, { resources: resources.slice(0, 1) }),
        [/^stop: .*it lacks the bucket of images, the user pool\. /],
      ],
      [`${status} with --new-data`, stateOf(status, { resources: [], newData: true }), []],
    ];
  }),
];

const unknown: Row[] = [
  [
    'GetAccountSettings is not permitted',
    { denied: ['GetAccountSettings'] },
    [notDone('how many functions', 'lambda:GetAccountSettings')],
  ],
  [
    'ListServiceQuotas is not permitted',
    { ...model, denied: ['ListServiceQuotas'] },
    [notDone('quota', 'servicequotas:ListServiceQuotas')],
  ],
  [
    'GetResources is not permitted',
    { stacks: {}, denied: ['GetResources'] },
    [notDone('left anything', 'tag:GetResources'), cloudFront],
  ],
  [
    'DescribeStacks is not permitted',
    { denied: ['DescribeStacks'] },
    [
      notDone('in which state', 'cloudformation:DescribeStacks'),
      notDone('has taken all data back', 'cloudformation:ListStackResources'),
      notDone('left anything', 'tag:GetResources and cloudformation:DescribeStacks'),
      notDone('the first deployment', 'cloudformation:DescribeStacks'),
    ],
  ],
  [
    'AWS does not answer',
    { hanging: ['GetAccountSettings'], timeLimitMs: 1500 },
    [/^note: .* none are reserved for the sweep.*: AWS did not answer within 1\.5 seconds\.$/],
  ],
];

describe.each([
  ['of the state of a stack', states],
  ["of Lambda's concurrent executions", service],
  ['of the e-mails', mails],
  ['of the model', models],
  ['of what an earlier deployment has left', left],
  ['and a check that can not be made stops nothing and says why', unknown],
])('a deployment finds, %s', (_about, rows) => {
  test.each(rows)('%s', async (_what, account, found, ...words) => {
    const lines = await linesFor(account);
    expect(lines).toHaveLength(found.length);
    for (const line of found) expect(lines).toContainEqual(expect.stringMatching(line));
    for (const word of words) expect(lines.join('\n')).toContain(word);
  });
});

test('an account where nothing is in the way has nothing to note, and nothing is changed', async () => {
  const { findings, neverCreated, accountConcurrency, calls } = await asked({});
  expect({ findings, neverCreated, accountConcurrency }).toEqual({
    findings: [],
    neverCreated: [],
    accountConcurrency: 1000,
  });
  expect(calls.every(({ action }) => /^(Get|List|Describe)/.test(action))).toBe(true);
});

test('the app is told how many functions run at once, or nothing where AWS does not tell', async () => {
  expect(await asked({ concurrency: 10 })).toMatchObject({ accountConcurrency: 10 });
  expect(await asked({ denied: ['GetAccountSettings'] })).toMatchObject({ accountConcurrency: null });
});

test.each([
  ['CREATE_COMPLETE', true, []],
  ['UPDATE_IN_PROGRESS', true, []],
  ['ROLLBACK_COMPLETE', true, [stackName]],
  ['ROLLBACK_FAILED', true, [stackName]],
  ['ROLLBACK_COMPLETE', false, []],
])(
  'a stack in %s, protected %s, is to lose its protection: %j',
  async (status, isProtected, neverCreated) => {
    expect(await asked({ stacks: { [stackName]: { status, isProtected } } })).toMatchObject({ neverCreated });
  },
);

const modelAlone = {
  configuration: { ...withModel, ...mail.configuration },
  only: 'model',
  stacks: both,
} as const;
test.each<[string, RegExp, Asked]>([
  ['SES', /GetAccount$|EmailIdentity/, {}],
  ['SES', /GetAccount$|EmailIdentity/, modelAlone],
  ['quotas of the model', /ListServiceQuotas/, { quotas: quotas(0) }],
  ['quotas of the model', /ListServiceQuotas/, { ...model, only: 'service', quotas: quotas(0) }],
  ['what was left', /GetResources/, { tagged }],
])('it is not asked for %s where that is not deployed', async (_what, actions, account) => {
  const { calls } = await asked(account);
  expect(calls.filter(({ action }) => actions.test(action))).toEqual([]);
});

test('a model alone needs no distribution', async () => {
  const found = await linesFor({ configuration: withModel, only: 'model', stacks: {} });
  expect(found.join()).not.toContain('CloudFront');
});
