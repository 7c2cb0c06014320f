import { openDynamoDb } from '../../../local/dynamodb/engine.ts';
import { answerRequest } from '../../../local/dynamodb/http.ts';
import { inFlightSortKey } from '../../../shared/table/keys.ts';
import { tableSchema } from '../../../shared/table/schema.ts';

export type Json = Record<string, any>;
export type Database = Awaited<ReturnType<typeof openDatabase>>;

const authorization = 'AWS4-HMAC-SHA256 Credential=simulation';

/**
 * The embedded engine on an empty table. Requests reach it as the bytes that the SDK made, but not through a socket:
 * a socket has a time of its own.
 */
export async function openDatabase(now: () => number) {
  const engine = await openDynamoDb({ folder: null, now });
  const database = {
    tableName: 'simulation',
    async send(operation: string, text: string): Promise<{ status: number; body: Json }> {
      const request = { target: `DynamoDB_20120810.${operation}`, authorization, text };
      const [status, body] = await answerRequest(request, engine.perform);
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
  /** `PERIOD#lic_…` is a period. */
  const kindOf = (partition: string) => partition.split('#')[0]!.toLowerCase();
  const kindsOf = (partitions: string[]) => partitions.map(kindOf).join(' + ');
  switch (operation) {
    case 'Query':
      return `query ${body.IndexName ?? 'the table'}`;
    case 'GetItem':
      return `read ${kindOf(body.Key.PK.S)}`;
    case 'BatchGetItem': {
      const [{ Keys }] = Object.values(body.RequestItems) as [Json];
      return `read ${kindsOf(Keys.map((key: Json) => key.PK.S))}`;
    }
    case 'TransactWriteItems': {
      const parts = targets(body);
      const status = parts.map((part) => part.ExpressionAttributeValues?.[':status']?.S).find(Boolean);
      if (status === 'COMPLETED') return 'settle';
      if (status !== undefined) return `release ${status}`;
      if (parts.some((part) => part.Item?.status?.S === 'QUEUED')) return 'reserve';
      if (parts.some((part) => keyIn(part).SK === inFlightSortKey)) return 'count in another period';
      return `write ${kindsOf(parts.map((part) => keyIn(part).PK))}`;
    }
    default:
      if (operation === 'UpdateItem' && body.UpdateExpression?.includes('startedAtMs')) return 'start';
      return `${operation.replace('Item', '').toLowerCase()} ${kindOf(keyIn(body).PK)}`;
  }
}
