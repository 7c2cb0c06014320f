import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { dateOf, refusalCodes, refusalsEndSeconds, type Refusal } from './refusals.ts';
import type { ErrorCode } from '../base/errors.ts';
import { readAll, type Item, type Table } from '../table/table.ts';
import { itemKeys, refusalPlaceOf, ttlAttribute } from '../table/keys.ts';

/** Whose refusals are counted: a key of a license, or its playground. */
export interface RefusalOwner {
  licenseId: string;
  /** A keyId, or `playground`. */
  caller: string;
}

/** Counts one refusal on its day. One item holds a caller's day, with a number for each code. */
export async function addRefusal(
  table: Table,
  { licenseId, caller }: RefusalOwner,
  code: ErrorCode,
  atMs: number,
  signal: AbortSignal,
): Promise<void> {
  const date = dateOf(atMs);
  const command = new UpdateItemCommand({
    TableName: table.name,
    Key: marshall(itemKeys.refusals(licenseId, date, caller)),
    UpdateExpression: 'SET #ttl = :ttl ADD #code :one',
    ExpressionAttributeNames: { '#ttl': ttlAttribute, '#code': code },
    ExpressionAttributeValues: marshall({ ':ttl': refusalsEndSeconds(date), ':one': 1 }),
  });
  await table.client.send(command, { abortSignal: signal });
}

/** A license's counts of one day and all days after it, newest day first. */
export async function listRefusals(table: Table, licenseId: string, firstDate: string): Promise<Refusal[]> {
  const { PK, SK: first } = itemKeys.refusals(licenseId, firstDate, '');
  const query = (start: Item | undefined) =>
    table.documents.send(
      new QueryCommand({
        TableName: table.name,
        KeyConditionExpression: 'PK = :license AND SK >= :first',
        ExpressionAttributeValues: { ':license': PK, ':first': first },
        ScanIndexForward: false,
        ConsistentRead: true,
        ExclusiveStartKey: start,
      }),
    );
  return (await readAll(query, fromItem)).flat();
}

function fromItem(item: Item): Refusal[] {
  const place = refusalPlaceOf(item);
  const codes = refusalCodes.filter((code) => Object.hasOwn(item, code));
  return codes.map((code) => ({ ...place, code, count: item[code] }));
}
