import { DeleteObjectCommand, paginateListObjectsV2, S3Client } from '@aws-sdk/client-s3';
import { DeleteCommand, paginateQuery } from '@aws-sdk/lib-dynamodb';
import { accountCallerId } from '../../shared/base/ids.ts';
import { getItem, openTable, type Item, type Table } from '../../shared/table/table.ts';
import { itemKeys, type ItemKey } from '../../shared/table/keys.ts';
import { partitions } from '../../shared/table/schema.ts';
import { counted } from '../common/output.ts';
import type { Stores } from '../common/stores.ts';
import type { SmokeFixture } from './fixture.ts';
import type { SmokePlace } from './place.ts';

const rounds = 3;
const pauseMs = 500;
/** How long a generation may still be settled or released after its deadline. */
const settleMs = 10_000;

/**
 * Removes exactly what a run made and looks again until nothing is found.
 * @returns null, or the end of a sentence that says what is left
 */
export async function cleanUp(
  { tableName, bucketName: Bucket }: SmokePlace,
  stores: Stores,
  fixture: SmokeFixture,
  issuedKeyId: string | undefined,
): Promise<string | null> {
  const table = openTable(tableName);
  const s3 = new S3Client({});
  const deleteItem = (Key: ItemKey) => table.documents.send(new DeleteCommand({ TableName: tableName, Key }));
  try {
    const listed = await stores.apiKeys.listByOwner(fixture.license.ownerId);
    // The index may lag, but only it knows a key whose issue failed half-way.
    const keyIds = [...new Set([...listed.map(({ keyId }) => keyId), issuedKeyId ?? []].flat())];
    // After revoking the keys nothing new begins. Running requests must end before everything can be removed.
    for (const keyId of keyIds) await deleteItem(itemKeys.apiKey(keyId));
    await untilNothingRuns(table, fixture);
    for (let round = 0; ; round++) {
      const items = await itemsOfRun(table, fixture, keyIds);
      const objectKeys = await objectsOfRun(s3, Bucket, fixture);
      if (items.length + objectKeys.length === 0) return null;
      if (round === rounds)
        return `${counted(items.length, 'item')} and ${counted(objectKeys.length, 'file')} are left of ${tracesOf(fixture)}`;
      if (round > 0) await pause();
      for (const Key of objectKeys) await s3.send(new DeleteObjectCommand({ Bucket, Key }));
      for (const { PK, SK } of items) await deleteItem({ PK, SK });
    }
  } finally {
    table.client.destroy();
    s3.destroy();
  }
}

/** Ids of what a run made, for removing it by hand. */
export function tracesOf({ identity, ownsIdentity, license }: SmokeFixture): string {
  const made = ownsIdentity ? ` and the identity ${identity.identityId}` : '';
  return `the license ${license.licenseId} of ${license.ownerId}${made}`;
}

async function untilNothingRuns(table: Table, { license }: SmokeFixture): Promise<void> {
  const runs = ({ status, deadlineMs }: Item) =>
    (status === 'QUEUED' || status === 'PROCESSING') && Date.now() < deadlineMs + settleMs;
  while ((await itemsOf(table, itemKeys.generation(license.licenseId, '').PK)).some(runs)) await pause();
}

/** In partitions of any kind whose name ends with an id of this run, and in those of all identities. */
async function itemsOfRun(
  table: Table,
  { identity, ownsIdentity, license: { licenseId, ownerId } }: SmokeFixture,
  keyIds: string[],
): Promise<Item[]> {
  const ids = [licenseId, `LICENSE#${licenseId}`, accountCallerId(ownerId), ...keyIds];
  const names = Object.values(partitions).flatMap(({ leadingKey }) => ids.map((id) => leadingKey + id));
  const items = (await Promise.all(names.map((name) => itemsOf(table, name)))).flat();
  if (!ownsIdentity) return items;
  const item = await getItem(table, itemKeys.identity(identity.identityId));
  const audit = await itemsOf(table, itemKeys.identityAudit('').PK);
  return [...items, ...(item ? [item] : []), ...audit.filter((one) => one.subjectId === identity.identityId)];
}

async function itemsOf(table: Table, partition: string): Promise<Item[]> {
  const query = {
    TableName: table.name,
    KeyConditionExpression: 'PK = :partition',
    ExpressionAttributeValues: { ':partition': partition },
    ConsistentRead: true,
  };
  const items: Item[] = [];
  for await (const { Items = [] } of paginateQuery({ client: table.documents }, query)) items.push(...Items);
  return items;
}

async function objectsOfRun(client: S3Client, Bucket: string, { license }: SmokeFixture): Promise<string[]> {
  const keys: string[] = [];
  for (const kind of ['generations', 'uploads']) {
    const pages = paginateListObjectsV2({ client }, { Bucket, Prefix: `${kind}/${license.licenseId}/` });
    for await (const { Contents = [] } of pages) keys.push(...Contents.map(({ Key }) => Key!));
  }
  return keys;
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, pauseMs));
}
