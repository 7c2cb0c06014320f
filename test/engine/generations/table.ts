import { randomUUID } from 'node:crypto';
import {
  CreateTableCommand,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import { startDynamoDb } from '../../../local/dynamodb/engine.ts';
import { pointSdkAt } from '../../../local/environment.ts';
import {
  readIdempotencyRecord,
  type IdempotencyRecord,
} from '../../../shared/generations/idempotency-store.ts';
import { openTable, type Table } from '../../../shared/table/table.ts';
import { tableSchema } from '../../../shared/table/schema.ts';
import { interceptCommands } from '../../support/intercept-commands.ts';

/** Runs before a command is sent, or after it was answered. A returned error takes the place of the answer. */
export type OnCommand = (name: string, inputOrOutput: any) => Error | undefined | Promise<Error | undefined>;

/** The connection broke off: nobody knows whether the command was applied. */
export const hungUp = () => new Error('socket hang up');

/** A write that met a transaction. */
export const writeConflict = () => new TransactionConflictException({ $metadata: {}, message: '' });

/** A transaction that was canceled, with what DynamoDB says of each of its writes. */
export function canceled(...codes: (string | undefined)[]): TransactionCanceledException {
  const CancellationReasons = codes.map((Code) => (Code === undefined ? {} : { Code }));
  return new TransactionCanceledException({ $metadata: {}, message: '', CancellationReasons });
}

/** The answer when conflicts do not end, or nobody knows what was applied. */
export const busy = { code: 'SERVICE_UNAVAILABLE', message: 'The service is busy. Try again shortly.' };

export type TableFixture = Awaited<ReturnType<typeof startTable>>;

/**
 * A real DynamoDB engine (the embedded one, or what DYNAMODB_ENDPOINT names) with an empty table, spoken to by the real
 * SDK. A test can see each command and make it fail.
 */
export async function startTable() {
  const dynamoDb = await openDynamoDb();
  pointSdkAt({
    region: 'us-east-1',
    accessKeyId: 'AKIDTEST',
    secretAccessKey: 'secret',
    dynamoDbUrl: dynamoDb.url,
    s3Url: 'http://127.0.0.1:1',
  });
  const table = await createTable();
  const nothing: OnCommand = () => undefined;
  const state = { before: nothing, after: nothing };
  interceptCommands(table, async ({ name, input, send }) => {
    const refused = await state.before(name, input);
    if (refused) throw refused;
    const lost = await state.after(name, await send());
    if (lost) throw lost;
  });
  return {
    table,
    state,
    dynamoDbUrl: dynamoDb.url,
    /** No more faults from here on. */
    mend() {
      state.before = nothing;
      state.after = nothing;
    },
    /** Does something just before the next transaction is sent. */
    meanwhile(work: () => Promise<unknown>) {
      state.before = async (name) => {
        if (name !== 'TransactWriteItemsCommand') return;
        state.before = nothing;
        await work();
      };
    },
    /** The next transactions meet these errors: before they are sent, or after they were applied. */
    fail(when: 'before' | 'after', ...errors: Error[]) {
      state[when] = (name) => (name === 'TransactWriteItemsCommand' ? errors.shift() : undefined);
    },
    /** From here on each query reads one record, and reports this ScannedCount; undefined: none. */
    readOneByOne(scanned: number | undefined) {
      state.before = (name, input) => {
        if (name === 'QueryCommand') input.Limit = 1;
        return undefined;
      };
      state.after = (_name, output) => {
        output.ScannedCount = scanned;
        return undefined;
      };
    },
    /** @returns how often a kind of command is sent from here on. */
    count(command?: string) {
      const counted = { times: 0 };
      const { before } = state;
      state.before = (name, input) => {
        if (command === undefined || name === command) counted.times += 1;
        return before(name, input);
      };
      return counted;
    },
    async close() {
      table.client.destroy();
      await dynamoDb.close();
    },
  };
}

/** The embedded DynamoDB, or what DYNAMODB_ENDPOINT names. */
export async function openDynamoDb(): Promise<{ url: string; close(): Promise<void> }> {
  const given = process.env['DYNAMODB_ENDPOINT'];
  return given ? { url: given, close: async () => undefined } : startDynamoDb({ folder: null });
}

/** An empty table of a test's own, where the SDK points. */
export async function createTable(): Promise<Table> {
  // Dozens of calls at once share one thread with the engine, and a busy machine takes longer than the service's time-out.
  const table = openTable(`table-${randomUUID()}`, { requestTimeoutMs: 60_000 });
  await table.documents.send(
    new CreateTableCommand({ TableName: table.name, ...structuredClone(tableSchema) } as never),
  );
  return table;
}

/** What is stored of a request's idempotency key. */
export async function idempotencyRecordOf(
  { table }: { table: Table },
  { keyId: callerId, idempotencyKeyHash }: { keyId: string; idempotencyKeyHash: string | null },
): Promise<IdempotencyRecord | null> {
  return idempotencyKeyHash === null ? null : readIdempotencyRecord(table, callerId, idempotencyKeyHash);
}
