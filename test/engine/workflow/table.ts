import { randomUUID } from 'node:crypto';
import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { pointSdkAt } from '../../../local/environment.ts';
import { tableSchema } from '../../../shared/store/table-keys.ts';
import { onTheLine } from '../../support/on-the-line.ts';
import { patientTable } from '../../support/patient-table.ts';
import { openDynamoDb } from './world.ts';

/** What a command that is about to be sent meets: an error is thrown instead of sending it. */
export type OnCommand = (name: string, input: any) => Error | undefined;

export type TableWorld = Awaited<ReturnType<typeof startTable>>;

/**
 * A real DynamoDB engine (the embedded one, or what DYNAMODB_ENDPOINT names) with an empty table, spoken to by the real
 * SDK; a test may listen, and cut the line.
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
  const table = patientTable(`store-${randomUUID()}`);
  await table.documents.send(
    new CreateTableCommand({ TableName: table.name, ...structuredClone(tableSchema) } as never),
  );
  const state = { before: (() => undefined) as OnCommand, after: (() => undefined) as OnCommand };
  onTheLine(table, async ({ name, input, send }) => {
    const refused = state.before(name, input);
    if (refused) throw refused;
    const lost = state.after(name, await send());
    if (lost) throw lost;
  });
  return {
    table,
    state,
    /** No more faults from here on. */
    mend() {
      state.before = () => undefined;
      state.after = () => undefined;
    },
    async close() {
      table.client.destroy();
      await dynamoDb.close();
    },
  };
}
