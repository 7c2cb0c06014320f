import { openDynamoDb } from '../../../local/dynamodb/engine.ts';
import { answerRequest } from '../../../local/dynamodb/http.ts';
import { inFlightSortKey } from '../../../shared/table/keys.ts';
import { tableSchema } from '../../../shared/table/schema.ts';

export type Json = Record<string, any>;

export interface DatabaseAnswer {
  status: number;
  body: Json;
}

/** A DynamoDB that answers the requests of the protocol. */
export interface Database {
  tableName: string;
  send(operation: string, text: string): Promise<DatabaseAnswer>;
  close(): Promise<void>;
}

const authorization = 'AWS4-HMAC-SHA256 Credential=simulation';

/**
 * The embedded engine on an empty table. Requests reach it as the bytes that the SDK made, but not through a socket:
 * a socket has a time of its own.
 */
export async function openDatabase(now: () => number): Promise<Database> {
  const engine = await openDynamoDb({ folder: null, now });
  const database: Database = {
    tableName: 'simulation',
    async send(operation, text) {
      const [status, body] = await answerRequest(
        { target: `DynamoDB_20120810.${operation}`, authorization, text },
        engine.perform,
      );
      return { status, body: (body === '' ? {} : body) as Json };
    },
    close: engine.close,
  };
  const schema = JSON.stringify({ TableName: database.tableName, ...tableSchema });
  const { status, body } = await database.send('CreateTable', schema);
  if (status !== 200) throw new Error(`the table could not be made: ${JSON.stringify(body)}`);
  return database;
}

/** A call to DynamoDB as the service means it. */
export interface TableCall {
  operation: string;
  /** What it is for, in a word or two. */
  purpose: string;
  body: Json;
  text: string;
  /** What it writes. */
  keys: { PK: string; SK: string }[];
}

const writing = ['PutItem', 'UpdateItem', 'DeleteItem', 'TransactWriteItems'];

export function readTableCall(operation: string, text: string): TableCall {
  const body = JSON.parse(text) as Json;
  const keys = writing.includes(operation) ? targets(body).map(keyIn) : [];
  return { operation, purpose: purposeOf(operation, body), body, text, keys };
}

function targets(body: Json): Json[] {
  if (body.TransactItems === undefined) return [body];
  return (body.TransactItems as Json[]).map((item) => Object.values(item)[0] as Json);
}

function keyIn(target: Json): { PK: string; SK: string } {
  const { PK, SK } = target.Key ?? target.Item;
  return { PK: PK.S, SK: SK.S };
}

function purposeOf(operation: string, body: Json): string {
  if (operation === 'TransactWriteItems') return transactionPurpose(targets(body));
  if (operation === 'Query') return `query ${body.IndexName ?? 'the table'}`;
  if (operation === 'BatchGetItem') {
    const keys = (Object.values(body.RequestItems as Json)[0] as Json).Keys as Json[];
    return `read ${keys.map((key) => kindOf(key.PK.S)).join(' + ')}`;
  }
  if (operation === 'GetItem') return `read ${kindOf(body.Key.PK.S)}`;
  if (operation === 'UpdateItem' && body.UpdateExpression?.includes('startedAtMs')) return 'start';
  return `${operation.replace('Item', '').toLowerCase()} ${targets(body).map((target) => kindOf(keyIn(target).PK))}`;
}

function transactionPurpose(parts: Json[]): string {
  const status = parts.map((part) => part.ExpressionAttributeValues?.[':status']?.S).find(Boolean);
  if (status === 'COMPLETED') return 'settle';
  if (status !== undefined) return `release ${status}`;
  if (parts.some((part) => part.Item?.status?.S === 'QUEUED')) return 'reserve';
  if (parts.some((part) => keyIn(part).SK === inFlightSortKey)) return 'count in another period';
  return `write ${parts.map((part) => kindOf(keyIn(part).PK)).join(' + ')}`;
}

/** `PERIOD#lic_…` is a period. */
function kindOf(partition: string): string {
  return partition.split('#')[0]!.toLowerCase();
}
