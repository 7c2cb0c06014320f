import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import {
  dateOf,
  refusalCodes,
  refusalsEndSeconds,
  refusedEndMs,
  type Refusal,
  type RefusedRequest,
} from './refusals.ts';
import { queryAll, type Item, type Table } from '../table/table.ts';
import { itemKeys, refusalPlaceOf, refusedPrefix, ttlAttribute } from '../table/keys.ts';

/** Whose refusals are counted: a key of a license, or its playground. */
export interface RefusalOwner {
  licenseId: string;
  /** A keyId, or `playground`. */
  caller: string;
  /** Null for the playground. */
  keyName: string | null;
}

/** What counts the refusals of a category on their day. */
const categoryPrefix = 'CONTENT_REFUSED ';
export const countedCategory = (category: string) => categoryPrefix + category;

/** Counts one refusal on its day. One item holds a caller's day, with a number for each code. @param counts the code first */
export async function addRefusal(
  table: Table,
  { licenseId, caller }: Pick<RefusalOwner, 'licenseId' | 'caller'>,
  counts: readonly string[],
  atMs: number,
  signal: AbortSignal,
): Promise<void> {
  const date = dateOf(atMs);
  const command = new UpdateItemCommand({
    TableName: table.name,
    Key: marshall(itemKeys.refusals(licenseId, date, caller)),
    UpdateExpression: `SET #ttl = :ttl ADD ${counts.map((_, i) => `#c${i} :one`).join(', ')}`,
    ExpressionAttributeNames: {
      '#ttl': ttlAttribute,
      ...Object.fromEntries(counts.map((name, i) => [`#c${i}`, name])),
    },
    ExpressionAttributeValues: marshall({ ':ttl': refusalsEndSeconds(date), ':one': 1 }),
  });
  await table.client.send(command, { abortSignal: signal });
}

/** A license's counts of one day and all days after it, newest day first. */
export async function listRefusals(table: Table, licenseId: string, firstDate: string): Promise<Refusal[]> {
  const { PK, SK: first } = itemKeys.refusals(licenseId, firstDate, '');
  const query = {
    // The refused requests themselves have letters first.
    KeyConditionExpression: 'PK = :license AND SK BETWEEN :first AND :letters',
    ExpressionAttributeValues: { ':license': PK, ':first': first, ':letters': 'A' },
    ScanIndexForward: false,
    ConsistentRead: true,
  };
  return (await queryAll(table, query, fromItem)).flat();
}

/** What was refused for its content in a month (`2026-11`): each item of its days, of one caller. For the operator's CLI. */
export async function listRefusalsByCategory(
  table: Table,
  licenseId: string,
  month: string,
): Promise<{ refused: number; categories: Record<string, number> }[]> {
  const { PK } = itemKeys.refusals(licenseId, month, '');
  const query = {
    KeyConditionExpression: 'PK = :license AND begins_with(SK, :month)',
    ExpressionAttributeValues: { ':license': PK, ':month': month },
    ConsistentRead: true,
  };
  return queryAll(table, query, (item) => {
    const counted = Object.entries(item).filter(([name]) => name.startsWith(categoryPrefix));
    const categories = counted.map(([name, count]) => [name.slice(categoryPrefix.length), Number(count)]);
    return { refused: Number(item.CONTENT_REFUSED ?? 0), categories: Object.fromEntries(categories) };
  });
}

function fromItem(item: Item): Refusal[] {
  const place = refusalPlaceOf(item);
  const codes = refusalCodes.filter((code) => Object.hasOwn(item, code));
  return codes.map((code) => ({ ...place, code, count: item[code] }));
}

/** Keeps a refused request for 14 days. It updates, because that is all that functions may do to these items. */
export async function keepRefused(
  table: Table,
  { licenseId, caller, keyName }: RefusalOwner,
  refused: Omit<RefusedRequest, keyof RefusalOwner>,
  signal: AbortSignal,
): Promise<void> {
  const { requestId, ...members } = refused;
  const end = Math.ceil(refusedEndMs(refused) / 1000);
  const values = Object.entries({ ...members, caller, keyName, [ttlAttribute]: end });
  const command = new UpdateItemCommand({
    TableName: table.name,
    Key: marshall(itemKeys.refusedRequest(licenseId, requestId)),
    UpdateExpression: `SET ${values.map((_, i) => `#m${i} = :m${i}`).join(', ')}`,
    ExpressionAttributeNames: Object.fromEntries(values.map(([name], i) => [`#m${i}`, name])),
    ExpressionAttributeValues: marshall(Object.fromEntries(values.map(([, value], i) => [`:m${i}`, value]))),
  });
  await table.client.send(command, { abortSignal: signal });
}

const mostListed = 100;

/** A license's newest refused requests, newest first; of a request id that one alone, if it was kept. */
export async function listRefused(
  table: Table,
  licenseId: string,
  nowMs: number,
  requestId = '',
): Promise<RefusedRequest[]> {
  const { PK, SK } = itemKeys.refusedRequest(licenseId, requestId);
  const { Items: items = [] } = await table.documents.send(
    new QueryCommand({
      TableName: table.name,
      KeyConditionExpression: 'PK = :license AND begins_with(SK, :request)',
      ExpressionAttributeValues: { ':license': PK, ':request': SK },
      ScanIndexForward: false,
      ConsistentRead: true,
      Limit: mostListed,
    }),
  );
  return items.map(toRefused).filter((refused) => refusedEndMs(refused) > nowMs);
}

function toRefused({ SK, atMs, route, status, code, error, caller, keyName }: Item): RefusedRequest {
  const requestId = String(SK).slice(refusedPrefix.length);
  return { requestId, atMs, route, status, code, error, caller, keyName };
}
