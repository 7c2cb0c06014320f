import { createServer, type IncomingMessage } from 'node:http';
import { listen } from '../../../local/http/server.ts';

interface StandInTable {
  /** The table of the embedded engine that holds its items. */
  engineTable: string;
  TableId: string;
  isProtected: boolean;
  settings: string[];
}

interface State {
  tables: Map<string, StandInTable>;
  reserved: Record<string, number | null>;
  /** The engine's table of each backup, by the backup's name. */
  backups: Map<string, string>;
  /** Actions that change something, in order. */
  changes: string[];
  /** An action that is refused once. */
  refusesOnce: string | null;
  /** What somebody else does meanwhile. */
  atBackup(): Promise<void>;
}

type Body = Record<string, any>;
type Answer = [status: number, body: object | string];

const stackName = 'image-generation-prod';
const refuse = (name: string): Answer => [400, { __type: name, message: name }];

/** What a restoration asks of AWS: CloudFormation, STS, Lambda and DynamoDB, whose items are in the embedded engine. */
export async function startStandIn(
  engineUrl: string,
  { tableName, present, past }: { tableName: string; present: string; past: string },
) {
  const state: State = {
    tables: new Map([[tableName, { ...newTable(present), isProtected: true }]]),
    reserved: { 'f-generate': null, 'f-sweep': 2, 'f-worker': 100 },
    backups: new Map(),
    changes: [],
    refusesOnce: null,
    atBackup: async () => {},
  };
  const answer = async (request: IncomingMessage): Promise<Answer> => {
    const text = Buffer.concat(await request.toArray()).toString();
    const action = String(request.headers['x-amz-target'] ?? '').split('.')[1];
    if (action !== undefined) {
      if (action === 'CreateBackup') await state.atBackup();
      if (state.refusesOnce === action) {
        state.refusesOnce = null;
        return refuse('AccessDeniedException');
      }
      return (
        changeTables(state, past, action, text) ??
        (await toItems(request, text, engineUrl, [tableName, state.tables.get(tableName)!.engineTable]))
      );
    }
    const [, name] = /\/functions\/([^/]+)/.exec(request.url!) ?? [];
    if (name !== undefined) return toLambda(state, request.method!, name, text);
    return [200, xmlOf(new URLSearchParams(text).get('Action')!, tableName, Object.keys(state.reserved))];
  };
  const server = createServer(async (request, response) => {
    const [status, body] = await answer(request);
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  return { ...(await listen(server)), state, stackName };
}

let made = 0;
function newTable(engineTable: string): StandInTable {
  return { engineTable, TableId: `id-${(made += 1)}`, isProtected: false, settings: [] };
}

/** @returns null for what asks for items. */
function changeTables({ tables, backups, changes }: State, past: string, action: string, text: string) {
  const actions: Record<string, (body: Body) => object | false> = {
    DescribeTable: ({ TableName: name }) =>
      tables.has(name) && { Table: { TableStatus: 'ACTIVE', TableArn: name, ...tables.get(name) } },
    RestoreTableToPointInTime: ({ TargetTableName: name }) => tables.set(name, newTable(past)),
    CreateBackup: ({ TableName: name, BackupName: BackupArn }) => {
      backups.set(BackupArn, tables.get(name)!.engineTable);
      return { BackupDetails: { BackupArn } };
    },
    DescribeBackup: () => ({ BackupDescription: { BackupDetails: { BackupStatus: 'AVAILABLE' } } }),
    UpdateTable: ({ TableName: name, DeletionProtectionEnabled: isProtected }) =>
      Object.assign(tables.get(name)!, { isProtected }),
    DeleteTable: ({ TableName: name }) => !tables.get(name)!.isProtected && tables.delete(name) && {},
    RestoreTableFromBackup: ({ TargetTableName: name, BackupArn }) =>
      tables.set(name, newTable(backups.get(BackupArn)!)),
    DescribeTimeToLive: () => ({ TimeToLiveDescription: { TimeToLiveStatus: 'DISABLED' } }),
    UpdateTimeToLive: ({ TableName: name }) => [tables.get(name)!.settings.push('ttl')],
    TagResource: ({ ResourceArn: name, Tags: [tag] }) => [tables.get(name)!.settings.push(tag.Value)],
    UpdateContinuousBackups: ({ TableName: name }) => [tables.get(name)!.settings.push('recovery')],
  };
  const perform = actions[action];
  if (perform === undefined) return null;
  if (!action.startsWith('Describe')) changes.push(action);
  const answer = perform(JSON.parse(text) as Body);
  return answer === false ? refuse('ResourceNotFoundException') : ([200, answer] satisfies Answer);
}

async function toItems(
  { headers }: IncomingMessage,
  text: string,
  engineUrl: string,
  [name, engineTable]: [string, string],
): Promise<Answer> {
  const kept = ['content-type', 'x-amz-target', 'x-amz-date', 'authorization'];
  const sent = await fetch(engineUrl, {
    method: 'POST',
    headers: kept.map((header) => [header, String(headers[header])] as [string, string]),
    body: text.replaceAll(`"${name}"`, `"${engineTable}"`),
  });
  const answered = await sent.text();
  // Tests read the engine's tables by their own names.
  const isAsked = text.includes(`"${name}"`);
  return [sent.status, isAsked ? answered.replaceAll(`"${engineTable}"`, `"${name}"`) : answered];
}

function toLambda(state: State, method: string, name: string, text: string): Answer {
  const { reserved, changes } = state;
  if (method === 'GET') {
    const count = reserved[name];
    const Concurrency = count === null ? {} : { ReservedConcurrentExecutions: count };
    return [200, { Configuration: { Timeout: 40 }, Concurrency }];
  }
  if (state.refusesOnce === `${method} concurrency`) {
    state.refusesOnce = null;
    return refuse('InvalidParameterValueException');
  }
  changes.push(`${method} concurrency`);
  reserved[name] = method === 'DELETE' ? null : JSON.parse(text).ReservedConcurrentExecutions;
  return method === 'DELETE' ? [204, ''] : [200, {}];
}

function xmlOf(action: string, tableName: string, functions: string[]): string {
  const outputs = Object.entries({ TableName: tableName, BucketName: 'images' }).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  const resources = functions.map(
    (name) =>
      `<member><ResourceType>AWS::Lambda::Function</ResourceType><PhysicalResourceId>${name}</PhysicalResourceId></member>`,
  );
  const content: Record<string, string> = {
    DescribeStacks: `<Stacks><member><StackName>${stackName}</StackName><Outputs>${outputs.join('')}</Outputs></member></Stacks>`,
    ListStackResources: `<StackResourceSummaries>${resources.join('')}</StackResourceSummaries>`,
    GetCallerIdentity: '<Arn>arn:aws:iam::123456789012:user/olga</Arn>',
  };
  return `<${action}Response><${action}Result>${content[action]}</${action}Result></${action}Response>`;
}
