import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Table } from '../../shared/store/table.ts';

/**
 * A table that is waited for. Where the engine runs in the test's own process, dozens of calls at once share one
 * thread with it, and a busy machine takes longer over one of them than the service would wait.
 */
export function patientTable(name: string): Table {
  const client = new DynamoDBClient({
    requestHandler: { requestTimeout: 60_000, throwOnRequestTimeout: true },
  });
  return { name, documents: DynamoDBDocumentClient.from(client) };
}
