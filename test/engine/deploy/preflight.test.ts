import { describe, expect, test } from '@jest/globals';
import { stacksToDeploy, type Part } from '../../../bin/deploy/deployment.ts';
import { preflight } from '../../../bin/deploy/preflight/preflight.ts';
import { deploymentFor, inAccount, withModel } from './fixture.ts';
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
const lifted = /^note: .*its termination protection is lifted for that/;
const stops = [/^stop: /];
const again = 'Deploy again when the state no longer ends in IN_PROGRESS';

const states: Row[] = [
  ['CREATE_COMPLETE: it is brought up to date', stateOf('CREATE_COMPLETE'), []],
  ['UPDATE_ROLLBACK_COMPLETE: it is brought up to date', stateOf('UPDATE_ROLLBACK_COMPLETE'), []],
  ['ROLLBACK_COMPLETE: it is created again', stateOf('ROLLBACK_COMPLETE'), [lifted, /CloudFront/]],
  ['ROLLBACK_FAILED: it is created again', stateOf('ROLLBACK_FAILED'), [lifted, /CloudFront/]],
  ...[
    ['UPDATE_IN_PROGRESS', again],
    ['DELETE_IN_PROGRESS', again],
    ['UPDATE_ROLLBACK_FAILED', `npx cdk rollback ${stackName} --region eu-west-1`],
    ['DELETE_FAILED', `delete-stack --stack-name ${stackName}`],
    ['IMPORT_ROLLBACK_FAILED', 'docs/deploying.md#taking-data-back'],
  ].map(([status = '', wayOut = '']): Row => [`${status}: what to do`, stateOf(status), stops, wayOut]),
];

const increase = '--quota-code L-B99A9384 --desired-value 1000 --region eu-west-1';
const service = [10, 999].map((concurrency): Row => {
  const meaning = `at most ${concurrency} generations can run at once`;
  return [`${concurrency} functions at once: noted`, { concurrency }, [/^note: /], meaning, increase];
});

const mail = { configuration: { mail: { from: 'no-reply@example.com' } } };
const domainIs = (status: string): Asked => ({ ...mail, mailIdentities: { 'example.com': status } });
const verified = domainIs('SUCCESS');
const sesIs = (mailAccount: Asked['mailAccount'] & object): Asked => ({ ...verified, mailAccount });
const refused = /^stop: .*would refuse every e-mail from no-reply@example\.com/;
const waits = /^stop: .*waits for its proof.*once VerifiedForSendingStatus is true/;
const sandbox =
  /^note: .*customers get no e-mails about credits, and codes and invitations come from Cognito's own.*--production-access-enabled/;
const suppress = /^note: .*--suppressed-reasons BOUNCE COMPLAINT --region/;
const create = 'aws sesv2 create-email-identity --email-identity example.com --region eu-west-1';
const ask = 'aws sesv2 get-email-identity --email-identity example.com --region eu-west-1';
const notAsked = /^stop: It was not checked whether SES.*ses:GetEmailIdentity and ses:GetAccount/;
const notedOnly = /^note: It was not checked whether SES.*ses:GetEmailIdentity and ses:GetAccount\.$/;
const orElse =
  'which this deployment would end: deploy later, or with the permissions ses:GetAccount and ses:GetEmail';
const first = { ...verified, denied: ['GetAccount'], stacks: {} };
const addressAlone = { 'no-reply@example.com': 'SUCCESS', 'example.com': 'FAILED' };
const mails: Row[] = [
  ['the domain of the mails is verified', verified, []],
  ['their address alone is verified', { ...mail, mailIdentities: addressAlone }, []],
  ['SES does not know their address', mail, [refused], create, 'docs/deploying.md#e-mails'],
  ['their domain is PENDING: what to wait for', domainIs('PENDING'), [waits], ask],
  ['their domain is FAILED: what to wait for', domainIs('FAILED'), [waits], ask],
  ['DNS lacks their domain for a while', domainIs('TEMPORARY_FAILURE'), [/^note: .*DKIM records are still/]],
  ['SES is in the sandbox', sesIs({ ProductionAccessEnabled: false }), [sandbox]],
  ['SES is paused', sesIs({ SendingEnabled: false }), [/^note: .*paused sending/]],
  ['SES sends to who complained', sesIs({ SuppressedReasons: ['BOUNCE'] }), [suppress]],
  ['SES sends to addresses that bounce', sesIs({ SuppressedReasons: ['COMPLAINT'] }), [suppress]],
  ['GetEmailIdentity is not permitted', { ...verified, denied: ['GetEmailIdentity'] }, [notAsked], orElse],
  ['GetAccount is not permitted', { ...verified, denied: ['GetAccount'] }, [notAsked], orElse],
  ['SES does not answer', { ...verified, hanging: ['GetAccount'], timeLimitMs: 1500 }, stops, orElse],
  ['GetAccount is not permitted, and the service is not there yet', first, [notedOnly, /CloudFront/]],
];

const quotaOf = (value: number) => ({ name: 'ml.g6.xlarge for endpoint usage', code: 'L-3', value });
const otherQuotas = [
  { name: 'ml.g5.xlarge for endpoint usage', code: 'L-1', value: 9 },
  { name: 'ml.g6.xlarge for training job usage', code: 'L-2', value: 9 },
];
const quotas = (value: number) => [...otherQuotas, quotaOf(value)];
const ofService = { [stackName]: deployed };
const both = { ...ofService, [modelStackName]: deployed };
const model = { configuration: withModel, stacks: both };
const withInference = (changes: object) => ({ inference: { ...withModel.inference, ...changes } });
const zeroName = `${modelStackName}-zero`;
const toZero = withInference({ minInstances: 0 });
const toZeroBeside = (stacks: Asked['stacks'] & object) => ({
  configuration: toZero,
  stacks,
  quotas: quotas(9),
});
const toZeroAlone = {
  configuration: toZero,
  stacks: { ...ofService, [zeroName]: deployed },
  quotas: quotas(0),
};
const used = { ...deployed, description };
const usesModel = { ...both, [modelStackName]: used };
const usesZero = { ...ofService, [zeroName]: used };
const otherType = withInference({ instanceType: 'ml.g5.xlarge' });
const busyModel = { ...both, [modelStackName]: { status: 'UPDATE_IN_PROGRESS' } };
const serviceOnly = { configuration: withModel, only: 'service' } as const;
const beside = (name: string, other: string) =>
  new RegExp(`^note: ${name} is made beside ${other}: SageMaker can't `);
const none =
  /^stop: The account's quota for ml\.g6\.xlarge in eu-west-1 is 0, .*the endpoint needs 1 to start\./;
const few = (value: number) => new RegExp(`^note: .* is ${value}\\. .* up to 4 `);
const moreOfType = '--service-code sagemaker --quota-code L-3 --desired-value 4 --region';
const otherWay = 'docs/deploying.md#first-none-then-the-model';
const untilThen = `Both cost money until ${stackName} uses the new one`;
const noQuota = /^note: AWS has no quota for ml\.g6\.xlarge/;
const changed = { ...model, quotas: quotas(4), defaultQuotas: quotas(0) };
const otherChanged = { ...model, quotas: otherQuotas, defaultQuotas: [quotaOf(4), ...otherQuotas] };
const besideModel = { configuration: otherType, stacks: usesModel, quotas: quotas(9) };
const models: Row[] = [
  ['too few instances for the first one', { ...model, quotas: quotas(0) }, [none], otherWay, moreOfType],
  ['a model that may be scaled to zero needs one to start', toZeroAlone, [none]],
  ['a quota that is among the defaults only', { ...model, defaultQuotas: quotas(0) }, [none]],
  ['a quota that was changed goes before the default', changed, []],
  ['another one that was changed says nothing', otherChanged, []],
  ['1, too few for a later deployment, is noted', { ...model, quotas: quotas(1) }, [few(1)]],
  ['3, too few for a later deployment, are noted', { ...model, quotas: quotas(3) }, [few(3)]],
  ['a type that AWS has no quota for', model, [noQuota]],
  [
    'one that scales to zero beside another',
    toZeroBeside(usesModel),
    [beside(zeroName, modelStackName)],
    untilThen,
  ],
  [
    'a model of another type beside it',
    besideModel,
    [beside(`${stackName}-model-g5-xlarge`, modelStackName)],
  ],
  [
    'one always on beside another',
    { ...model, stacks: usesZero, quotas: quotas(9) },
    [beside(modelStackName, zeroName)],
  ],
  ['both are there', toZeroBeside({ ...usesModel, [zeroName]: used }), []],
  ['the model is the first', toZeroBeside(ofService), []],
  ['only the service: its busy model is in nobody’s way', { ...serviceOnly, stacks: busyModel }, []],
  [
    'only the service, without its model',
    { ...serviceOnly, stacks: ofService },
    [/^stop: .*deploy without --only/],
  ],
];

const enough = { ...model, quotas: quotas(9) };
const modelIn = (inference: object, offerings?: Asked['offerings']): Asked => ({
  ...enough,
  configuration: withInference(inference),
  ...(offerings !== undefined && { offerings }),
});
const onTwo = { otherInstanceTypes: ['ml.g5.xlarge'] };
const g5In = (zone: string) => ({ 'g6.xlarge': ['eu-west-1a'], 'g5.xlarge': [zone] });
const otherCards = /^note: .*may run on different cards.* modelVersion names/;
const noQuotaOfG5 =
  /^stop: The account's quota for ml\.g5\.xlarge in eu-west-1 is 0, and the endpoint needs 1/;
const five = Object.fromEntries([['g6.xlarge', ['a', 'b', 'c', 'd', 'e'].map((end) => `eu-west-1${end}`)]]);
const withoutG5 = quotas(9).map((quota) => ({ ...quota, value: quota.code === 'L-1' ? 0 : 9 }));
const withNetwork = {
  ...modelIn({ zones: null }),
  stacks: { ...both, 'image-generation-prod-network': deployed },
};
const unknownZones = notDone('availability zones', 'ec2:DescribeInstanceTypeOfferings');
const places: Row[] = [
  ['its zones have the type', enough, []],
  [
    'no zones are named: those that have the type, but for local ones',
    modelIn({ zones: null }),
    [/^note: .*takes the first two zones/],
    '"zones": ["eu-west-1a","eu-west-1b","eu-west-1c"]',
  ],
  ['no zones are named, but the network is there', withNetwork, []],
  ['of five zones four are proposed', modelIn({ zones: null }, five), [/"eu-west-1d"\]/]],
  [
    'one of its zones lacks it',
    modelIn({}, g5In('eu-west-1c')),
    [/^note: EC2 has no ml\.g6\.xlarge in eu-west-1b, /],
  ],
  ['no zone has it', modelIn({}, {}), [/^note: EC2 has no ml\.g6\.xlarge in any zone of eu-west-1/]],
  ['the other type is where the first is not', modelIn(onTwo, g5In('eu-west-1b')), [otherCards]],
  ['the other type has no quota', { ...modelIn(onTwo), quotas: withoutG5 }, [noQuotaOfG5, otherCards]],
  ['EC2 may not be asked', { ...enough, denied: ['DescribeInstanceTypeOfferings'] }, [unknownZones]],
  ['the model has no network of its own', modelIn({ zones: null, internetAccess: true }), []],
];

const table = 'arn:aws:dynamodb:eu-west-1:123456789012:table/prod-Records';
const pool = 'arn:aws:cognito-idp:eu-west-1:123456789012:userpool/eu-west-1_Old';
const logs = (name: string) => `arn:aws:logs:eu-west-1:123456789012:log-group:${name}`;
const left = [
  { arn: 'arn:aws:backup:eu-west-1:123456789012:backup-vault:prod', stack: stackName },
  { arn: table, stack: stackName, data: true },
  { arn: pool, stack: stackName, data: true, logicalId: 'AccountsUserPoolABC' },
  { arn: `${table}-staging`, stack: 'image-generation-staging', data: true },
];
const bucket = 'arn:aws:s3:::prod-imagesbucket-old';
/** What a version left whose stores had no tag of the service's own. */
const older = [{ arn: bucket, stack: stackName, logicalId: 'ImagesBucketABC' }, left[0]!];
const cloudFront = /^note: .*"Your account must be verified/;
const emptyStores = /^stop: .*no account, key or image of before would be found/;
const goOn = /^stop: .*go on with new ones by --new-data/;
const unused = /^note: .*does not use them/;
const back = 'docs/deploying.md#taking-data-back';
const takenLogs = `/aws/sagemaker/Endpoints/${modelStackName}`;
const withLogs = (stacks: Asked['stacks'] & object): Asked => ({
  configuration: withModel,
  stacks,
  quotas: quotas(4),
  left: [
    { arn: logs(`${takenLogs}:*`), stack: modelStackName },
    { arn: logs('/aws/lambda/other'), stack: modelStackName },
  ],
});
const failed = (more: Asked) => stateOf('ROLLBACK_COMPLETE', { left, ...more });
const ownLogs = ['CreateGenerationLogABC', 'ApiAccessLogABC'].map((logicalId) => {
  return { arn: logs(`${stackName}-${logicalId}-XYZ`), stack: stackName };
});
const modelFailed = { ...ofService, [modelStackName]: { status: 'ROLLBACK_COMPLETE' } };
const stores = ['RecordsTableABC', 'ImagesBucketABC', 'AccountsUserPoolABC'];
const lacks = /^stop: .*it lacks the bucket of images, the user pool\. /;
const leftovers: Row[] = [
  ['a first deployment: what an unverified account meets', { stacks: {} }, [cloudFront]],
  ['data stops a new stack', { stacks: {}, left }, [emptyStores, cloudFront], `${table}, ${pool}. A`, back],
  [
    'so does data of an older version',
    { stacks: {}, left: older },
    [emptyStores, cloudFront],
    `: ${bucket}. A`,
  ],
  ['--new-data goes on', { stacks: {}, left, newData: true }, [unused, cloudFront], table],
  ['a failed first creation or import stops too', failed({}), [goOn, lifted, cloudFront], table],
  ['--new-data goes on after it', failed({ newData: true }), [unused, lifted, cloudFront]],
  ['what belongs to a stack that is there is in use', { left }, []],
  ['logs that it left on purpose are in nobody’s way', { stacks: {}, left: ownLogs }, [cloudFront]],
  [
    'a log group whose name the new stack needs',
    withLogs(ofService),
    stops,
    `--log-group-name ${takenLogs} --region`,
  ],
  ['a log group of a stack that is there stops nothing', withLogs(modelFailed), [lifted]],
  ...['IMPORT_COMPLETE', 'IMPORT_ROLLBACK_COMPLETE'].flatMap((status): Row[] => [
    [`${status} with all stores`, stateOf(status, { resources: stores }), []],
    [`${status} without some of them`, stateOf(status, { resources: stores.slice(0, 1) }), [lacks]],
    [`${status} with --new-data`, stateOf(status, { resources: [], newData: true }), []],
  ]),
];

const stacksUnknown = [
  notDone('in which state', 'cloudformation:DescribeStacks'),
  notDone('has taken all data back', 'cloudformation:ListStackResources'),
  notDone('left anything', 'tag:GetResources and cloudformation:DescribeStacks'),
  notDone('the first deployment', 'cloudformation:DescribeStacks'),
];
const functionsUnknown = notDone('how many functions', 'lambda:GetAccountSettings');
const quotaUnknown = notDone('quota', 'servicequotas:ListServiceQuotas');
const leftUnknown = notDone('left anything', 'tag:GetResources');
const silent = { hanging: ['GetAccountSettings'], timeLimitMs: 1500 };
const silence =
  /^note: .* two asynchronous requests run at once, and no executions are reserved for the sweep.*: AWS did not answer within 1\.5 seconds\.$/;
const unknown: Row[] = [
  ['GetAccountSettings is not permitted', { denied: ['GetAccountSettings'] }, [functionsUnknown]],
  ['ListServiceQuotas is not permitted', { ...model, denied: ['ListServiceQuotas'] }, [quotaUnknown]],
  ['GetResources is not permitted', { stacks: {}, denied: ['GetResources'] }, [leftUnknown, cloudFront]],
  ['DescribeStacks is not permitted', { denied: ['DescribeStacks'] }, stacksUnknown],
  ['AWS does not answer', silent, [silence]],
];

describe.each([
  ['of the state of a stack', states],
  ["of Lambda's concurrent executions", service],
  ['of the e-mails', mails],
  ['of the model', models],
  ['of where and on what the model runs', places],
  ['of what an earlier deployment has left', leftovers],
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

test.each<[what: string, identity: string | null, account: Asked]>([
  ['the verified domain', 'example.com', verified],
  ['the verified address', 'no-reply@example.com', { ...mail, mailIdentities: addressAlone }],
  ['nothing that waits for DNS', null, domainIs('TEMPORARY_FAILURE')],
  ['nothing in the sandbox', null, sesIs({ ProductionAccessEnabled: false })],
  ['nothing while SES is paused', null, sesIs({ SendingEnabled: false })],
  ['nothing that is not known', null, { ...verified, denied: ['GetAccount'] }],
  ['nothing without an address', null, { mailIdentities: { 'example.com': 'SUCCESS' } }],
])('the app is given, for codes by e-mail: %s', async (_what, mailIdentity, account) => {
  expect(await asked(account)).toMatchObject({ mailIdentity });
});

test('the app is given how many functions run at once, or nothing where AWS does not say', async () => {
  expect(await asked({ concurrency: 10 })).toMatchObject({ accountConcurrency: 10 });
  expect(await asked({ denied: ['GetAccountSettings'] })).toMatchObject({ accountConcurrency: null });
});

test('the app is given how many executions other stacks have reserved, which leaves out its own', async () => {
  const functions = { 'f-sweep': 2, 'f-worker': 100 };
  expect(await asked({})).toMatchObject({ reservedByOthers: 0 });
  expect(await asked({ unreserved: 598, functions })).toMatchObject({ reservedByOthers: 300 });
  expect(await asked({ unreserved: 598, functions, stacks: {} })).toMatchObject({ reservedByOthers: 402 });
  // Where AWS does not say what its own have, nothing is counted, as it was before.
  const denied = ['GetFunction'];
  expect(await asked({ unreserved: 598, functions, denied })).toMatchObject({ reservedByOthers: 0 });
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
  ['what was left', /GetResources/, { left }],
])('it is not asked for %s where that is not deployed', async (_what, actions, account) => {
  const { calls } = await asked(account);
  expect(calls.filter(({ action }) => actions.test(action))).toEqual([]);
});

test('a model alone needs no distribution', async () => {
  const found = await linesFor({ configuration: withModel, only: 'model', stacks: {} });
  expect(found.join()).not.toContain('CloudFront');
});
