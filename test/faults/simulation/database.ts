import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { openDynamoDb } from '../../../local/dynamodb/engine.ts';
import { answerRequest } from '../../../local/dynamodb/http.ts';
import { tableSchema } from '../../../shared/table/keys.ts';

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
export async function openEmbedded(now: () => number): Promise<Database> {
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
  await createTable(database);
  return database;
}

let tables = 0;

/** Another DynamoDB at an address, with a table of this simulation's own. The world stands still while it answers. */
export async function openRemote(url: string): Promise<Database> {
  tables += 1;
  const agent = new Agent({ keepAlive: true });
  const database: Database = {
    tableName: `simulation-${process.pid}-${tables}`,
    async send(operation, text) {
      const headers = {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': `DynamoDB_20120810.${operation}`,
        'x-amz-date': new Date().toISOString().replace(/[-:]|\.\d+/g, ''),
        authorization: `${authorization}/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0`,
      };
      // Node's own HTTP, because `fetch` would take time and chance from the simulation.
      const call = request(url, { method: 'POST', headers, agent }).end(text);
      const [answer] = (await once(call, 'response')) as [IncomingMessage];
      return { status: answer.statusCode!, body: (await json(answer)) as Json };
    },
    async close() {
      await database.send('DeleteTable', JSON.stringify({ TableName: database.tableName }));
      agent.destroy();
    },
  };
  await createTable(database);
  return database;
}

async function createTable(database: Database): Promise<void> {
  const text = JSON.stringify({ TableName: database.tableName, ...tableSchema });
  const { status, body } = await database.send('CreateTable', text);
  if (status !== 200) throw new Error(`the table could not be made: ${JSON.stringify(body)}`);
}
