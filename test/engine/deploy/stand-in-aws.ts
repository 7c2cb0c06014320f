import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { dataTag } from '../../../lib/configuration.ts';
import { listen, type RunningServer } from '../../../local/http/server.ts';

export const region = 'eu-west-1';
export const stackName = 'image-generation-prod';
export const modelStackName = 'image-generation-prod-model-g6-xlarge';
export const networkStackName = 'image-generation-prod-network-ab';
export const modelDescription = 'Image Generation Service: the model';

export interface StandInStack {
  status?: string;
  isProtected?: boolean;
  description?: string;
}

export interface StandInQuota {
  name: string;
  code: string;
  value: number;
}

/** What an account is like. Without options it is one that has nothing to note: the service is deployed in it. */
export interface StandInAccount {
  /** Whether the account was prepared for the CDK. Default "yes". */
  bootstrapped?: 'yes' | 'no' | 'halfway';
  /** What STS answers with instead of an identity. */
  refusal?: string;
  /** By name. Default: the service's. */
  stacks?: Record<string, StandInStack>;
  /** How many functions may run at once. Default 1000. */
  concurrency?: number;
  /** How many of these nobody has reserved. Default: all. */
  unreserved?: number;
  /** What each function of the service's stack has reserved. */
  functions?: Record<string, number>;
  /** Quotas that are set, and AWS's defaults. */
  quotas?: StandInQuota[];
  defaultQuotas?: StandInQuota[];
  /** The logical ids of what the service's stack has. */
  resources?: string[];
  /** What stacks have made, or left. `data`: it has the service's own tag. */
  left?: { arn: string; stack: string; data?: boolean; logicalId?: string }[];
  /** SES's identities by name, each with its VerificationStatus. Default: none. */
  mailIdentities?: Record<string, string>;
  /** What differs from an account of SES that sends to everybody. */
  mailAccount?: { ProductionAccessEnabled?: boolean; SendingEnabled?: boolean; SuppressedReasons?: string[] };
  /** Where EC2 has each type of instances. Default: two types in the first three zones, and in a local one. */
  offerings?: Record<string, string[]>;
  /** Actions that are refused for want of a permission. */
  denied?: string[];
  /** Actions that are never answered. */
  hanging?: string[];
}

export interface StandInAws extends RunningServer {
  /** What was asked for, in order: an action and the stack that it names. */
  calls: { action: string; stack: string | null }[];
}

export const arnOf = (name: string) => `arn:aws:cloudformation:${region}:123456789012:stack/${name}/0a1b2c`;

/** The services of AWS that a deployment asks, each in its own protocol. Lists have one thing a page. */
export async function startAws(account: StandInAccount = {}): Promise<StandInAws> {
  const calls: StandInAws['calls'] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const asked = await readQuestion(request);
    const { action, input } = asked;
    calls.push({ action, stack: input.StackName ?? null });
    if (account.hanging?.includes(action)) return;
    const protocol = asked.isXml ? xml : json;
    const { status, body } = account.denied?.includes(action)
      ? protocol.failure('AccessDeniedException', `not authorized to perform: ${action}`)
      : answers[action]!(input, account);
    response.writeHead(status, { 'content-type': protocol.type }).end(body);
  };
  const server = await listen(createServer((request, response) => void answer(request, response)));
  return { ...server, calls };
}

type Input = Record<string, string | undefined>;
interface Answer {
  status: number;
  body: string;
}

async function readQuestion(
  request: IncomingMessage,
): Promise<{ action: string; input: Input; isXml: boolean }> {
  const body = Buffer.concat(await request.toArray()).toString();
  if (request.url!.endsWith('/account-settings'))
    return { action: 'GetAccountSettings', input: {}, isXml: false };
  const [, functionName] = /\/functions\/([^/]+)$/.exec(request.url!) ?? [];
  if (functionName) return { action: 'GetFunction', input: { functionName }, isXml: false };
  const [, path, name] = /^\/v2\/email\/(account|identities)\/?(.*)$/.exec(request.url!) ?? [];
  if (path === 'account') return { action: 'GetAccount', input: {}, isXml: false };
  if (path === 'identities') {
    return { action: 'GetEmailIdentity', input: { name: decodeURIComponent(name!) }, isXml: false };
  }
  const target = request.headers['x-amz-target'];
  if (typeof target === 'string') {
    return { action: target.split('.')[1]!, input: JSON.parse(body) as Input, isXml: false };
  }
  const input = Object.fromEntries(new URLSearchParams(body)) as Input;
  return { action: input.Action!, input, isXml: true };
}

const xml = {
  type: 'text/xml',
  failure: (code: string, message: string): Answer => ({
    status: 400,
    body: `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`,
  }),
};
const json = {
  type: 'application/json',
  failure: (code: string, message: string, status = 400): Answer => ({
    status,
    body: JSON.stringify({ __type: code, message }),
  }),
};

const ok = (body: string): Answer => ({ status: 200, body });
const result = (action: string, content: string) =>
  ok(`<${action}Response><${action}Result>${content}</${action}Result></${action}Response>`);

const answers: Record<string, (input: Input, account: StandInAccount) => Answer> = {
  GetCallerIdentity: (_, { refusal }) =>
    refusal === undefined
      ? result(
          'GetCallerIdentity',
          '<Arn>arn:aws:iam::123456789012:user/olga</Arn><UserId>AIDA</UserId><Account>123456789012</Account>',
        )
      : xml.failure(refusal, 'No.'),
  DescribeStacks: ({ StackName: name, NextToken: token }, account) => {
    if (name === undefined) return allStacks(account, token);
    const content = name === 'CDKToolkit' ? bootstrapStack(account) : stackOf(name, account);
    if (content === null) return xml.failure('ValidationError', `Stack with id ${name} does not exist`);
    return result('DescribeStacks', `<Stacks><member>${content}</member></Stacks>`);
  },
  ListStackResources: ({ NextToken: token }, { resources = [], functions = {} }) => {
    const all = [
      ...resources.map((id) => `<LogicalResourceId>${id}</LogicalResourceId>`),
      ...Object.keys(functions).map(
        (name) =>
          `<ResourceType>AWS::Lambda::Function</ResourceType><PhysicalResourceId>${name}</PhysicalResourceId>`,
      ),
    ];
    const { items, next } = page(all, token);
    const members = items.map((content) => `<member>${content}</member>`);
    const nextToken = next === undefined ? '' : `<NextToken>${next}</NextToken>`;
    const summaries = `<StackResourceSummaries>${members.join('')}</StackResourceSummaries>${nextToken}`;
    return result('ListStackResources', summaries);
  },
  UpdateTerminationProtection: ({ StackName: arn = '' }) =>
    result('UpdateTerminationProtection', `<StackId>${arn}</StackId>`),
  DeleteStack: () => ok('<DeleteStackResponse/>'),
  DescribeInstanceTypeOfferings: (input, { offerings = usualOfferings }) => {
    const asked = Object.entries(input).flatMap(([key, type]) => (/\.Value\./.test(key) ? [type!] : []));
    const found = asked
      .flatMap((type) => offerings[type] ?? [])
      .map((zone) => `<location>${zone}</location>`);
    return ok(
      `<DescribeInstanceTypeOfferingsResponse>${found.join('')}</DescribeInstanceTypeOfferingsResponse>`,
    );
  },
  GetAccountSettings: (_, { concurrency = 1000, unreserved = concurrency }) => {
    const limit = { ConcurrentExecutions: concurrency, UnreservedConcurrentExecutions: unreserved };
    return ok(JSON.stringify({ AccountLimit: limit }));
  },
  GetFunction: ({ functionName = '' }, { functions = {} }) =>
    ok(JSON.stringify({ Concurrency: { ReservedConcurrentExecutions: functions[functionName] } })),
  GetEmailIdentity: ({ name = '' }, { mailIdentities = {} }) => {
    const status = mailIdentities[name];
    if (status === undefined) return json.failure('NotFoundException', `${name} does not exist`, 404);
    return ok(JSON.stringify({ VerificationStatus: status, VerifiedForSendingStatus: status === 'SUCCESS' }));
  },
  GetAccount: (_, { mailAccount: { SuppressedReasons = ['BOUNCE', 'COMPLAINT'], ...more } = {} }) => {
    const account = { ProductionAccessEnabled: true, SendingEnabled: true, ...more };
    return ok(JSON.stringify({ ...account, SuppressionAttributes: { SuppressedReasons } }));
  },
  ListServiceQuotas: (input, { quotas = [] }) => quotaPage(quotas, input),
  ListAWSDefaultServiceQuotas: (input, { defaultQuotas = [] }) => quotaPage(defaultQuotas, input),
  GetResources: (input, { left = [] }) => {
    const [filter] = input.TagFilters as unknown as [{ Key: string; Values: string[] }];
    const tagged = left.map((one) => ({ ResourceARN: one.arn, Tags: tagsOf(one) }));
    const { items: list, next } = page(
      tagged.filter(({ Tags }) =>
        Tags.some(({ Key, Value }) => Key === filter.Key && filter.Values.includes(Value)),
      ),
      input.PaginationToken,
    );
    return ok(JSON.stringify({ ResourceTagMappingList: list, PaginationToken: next ?? '' }));
  },
};

const usualZones = ['a', 'c', 'b', '-lnd-1a'].map((end) => `${region}${end}`);
const usualOfferings: Record<string, string[]> = { 'g6.xlarge': usualZones, 'g5.xlarge': usualZones };
/** CloudFormation tags what it makes, but neither tables nor roles (cloudformation-coverage-roadmap, issues 1360 and 277). */
function tagsOf({ arn, stack, data = false, logicalId = 'Other' }: Required<StandInAccount>['left'][number]) {
  const own = { 'aws:cloudformation:stack-name': stack, 'aws:cloudformation:logical-id': logicalId };
  const tags = { ...(data && { [dataTag]: stack }), ...(!/:(dynamodb|iam):/.test(arn) && own) };
  return Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
}

const usualStatus = 'CREATE_COMPLETE';
const stacksOf = ({ stacks }: StandInAccount): Record<string, StandInStack> =>
  stacks ?? { [stackName]: { status: 'UPDATE_COMPLETE' } };

function stackOf(name: string, account: StandInAccount): string | null {
  const stack = stacksOf(account)[name];
  if (stack === undefined) return null;
  const { status = usualStatus, isProtected = true, description = '' } = stack;
  return (
    `<StackName>${name}</StackName><StackId>${arnOf(name)}</StackId><StackStatus>${status}</StackStatus>` +
    `<EnableTerminationProtection>${isProtected}</EnableTerminationProtection>` +
    `<Description>${description}</Description>`
  );
}

/** Without a name, those that were deleted are not described. */
function allStacks(account: StandInAccount, token: string | undefined): Answer {
  const names = Object.entries(stacksOf(account)).filter(([, { status }]) => status !== 'DELETE_COMPLETE');
  const { items, next } = page(names, token);
  const members = items.map(([name]) => `<member>${stackOf(name, account)}</member>`);
  const nextToken = next === undefined ? '' : `<NextToken>${next}</NextToken>`;
  return result('DescribeStacks', `<Stacks>${members.join('')}</Stacks>${nextToken}`);
}

/** Its bucket is made before its version is known. */
function bootstrapStack({ bootstrapped = 'yes' }: StandInAccount): string | null {
  if (bootstrapped === 'no') return null;
  const keys = bootstrapped === 'yes' ? ['BucketName', 'BootstrapVersion'] : ['BucketName'];
  const members = keys.map(
    (key) => `<member><OutputKey>${key}</OutputKey><OutputValue>30</OutputValue></member>`,
  );
  return `<StackName>CDKToolkit</StackName><Outputs>${members.join('')}</Outputs>`;
}

function quotaPage(quotas: StandInQuota[], { NextToken: token }: Input): Answer {
  const { items, next } = page(quotas, token);
  const list = items.map(({ name, code, value }) => ({ QuotaName: name, QuotaCode: code, Value: value }));
  return ok(JSON.stringify({ Quotas: list, NextToken: next }));
}

function page<T>(all: T[], token = '0'): { items: T[]; next: string | undefined } {
  const at = Number(token);
  return { items: all.slice(at, at + 1), next: at + 1 < all.length ? String(at + 1) : undefined };
}
