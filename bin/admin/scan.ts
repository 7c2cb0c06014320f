import { scanAll, type Item } from '../../shared/table/table.ts';
import { Failure } from '../common/failure.ts';
import type { Session } from './command.ts';
import { prices } from '../costs/prices.ts';
/** What DynamoDB says of the size may be six hours old ("DescribeTable"). A unit reads 8 KiB that may be a moment old. */
export async function scanTable(
  { stores: { table } }: Session,
  { yes }: { yes?: boolean },
  filter: string,
  values: Record<string, string | number>,
  names?: Record<string, string>,
): Promise<Item[]> {
  const { DescribeTableCommand } = await import('@aws-sdk/client-dynamodb');
  const { Table: described } = await table.client.send(new DescribeTableCommand({ TableName: table.name }));
  const units = Math.ceil((described?.TableSizeBytes ?? 0) / 8192);
  const { usd, per } = prices.tableReads;
  const cost = `${units.toLocaleString('en-US')} read units, $${((units * usd) / per).toFixed(2)} at list price`;
  if (!yes) throw new Failure(`This would read the whole table: about ${cost}. Nothing was read: add --yes.`);
  process.stderr.write(`Reads the whole table: about ${cost}.\n`);
  const query = {
    FilterExpression: filter,
    ExpressionAttributeValues: values,
    ...(names && { ExpressionAttributeNames: names }),
  };
  return scanAll(table, query, (item) => item);
}
