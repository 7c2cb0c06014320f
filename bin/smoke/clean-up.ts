import { DeleteObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { DeleteCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { accountCallerId } from '../../shared/base/ids.ts';
import { getItem, openTable, readAll, type Item, type Table } from '../../shared/table/table.ts';
import { itemKeys, type ItemKey } from '../../shared/table/keys.ts';
import { counted } from '../common/output.ts';
import type { Stores } from '../common/stores.ts';
import type { SmokePlace } from './place.ts';
import type { SmokeWorld } from './world.ts';

const rounds = 3;
const pauseMs = 500;
/** How long a generation may still be settled or released after its deadline. */
const settleMs = 10_000;

interface Traces {
  items: ItemKey[];
  objectKeys: string[];
}

/**
 * Removes exactly what a run made and looks again until nothing is found.
 * @returns null, or the end of a sentence that says what is left.
 */
export async function cleanUp(
  place: SmokePlace,
  stores: Stores,
  world: SmokeWorld,
  issuedKeyId: string | null,
): Promise<string | null> {
  const table = openTable(place.tableName);
  const s3 = new S3Client({});
  try {
    const listed = await stores.apiKeys.listByOwner(world.license.ownerId);
    // The index may lag, but only it knows a key whose issue failed half-way.
    const keyIds = [...new Set([...listed.map(({ keyId }) => keyId), ...(issuedKeyId ? [issuedKeyId] : [])])];
    // After revoking the keys nothing new begins. Running requests must end before everything can be removed.
    for (const keyId of keyIds) await deleteItem(table, itemKeys.apiKey(keyId));
    await untilNothingRuns(table, world);
    let traces = await findTraces(place, table, s3, world, keyIds);
    for (let round = 1; round <= rounds && !isEmpty(traces); round++) {
      if (round > 1) await pause();
      for (const key of traces.objectKeys) {
        await s3.send(new DeleteObjectCommand({ Bucket: place.bucketName, Key: key }));
      }
      for (const key of traces.items) await deleteItem(table, key);
      traces = await findTraces(place, table, s3, world, keyIds);
    }
    return isEmpty(traces) ? null : leftOver(traces, world);
  } finally {
    table.client.destroy();
    s3.destroy();
  }
}

/** Ids of what a run made, for removing it by hand. */
export function tracesOf({ identity, ownsIdentity, license }: SmokeWorld): string {
  const made = ownsIdentity ? ` and the identity ${identity.identityId}` : '';
  return `the license ${license.licenseId} of ${license.ownerId}${made}`;
}

function leftOver({ items, objectKeys }: Traces, world: SmokeWorld): string {
  return `${counted(items.length, 'item')} and ${counted(objectKeys.length, 'file')} are left of ${tracesOf(world)}`;
}

function isEmpty({ items, objectKeys }: Traces): boolean {
  return items.length === 0 && objectKeys.length === 0;
}

async function untilNothingRuns(table: Table, { license }: SmokeWorld): Promise<void> {
  for (;;) {
    const records = await itemsOf(table, itemKeys.generation(license.licenseId, '').PK);
    const runs = records.some(
      ({ status, deadlineMs }) =>
        (status === 'QUEUED' || status === 'PROCESSING') && Date.now() < deadlineMs + settleMs,
    );
    if (!runs) return;
    await pause();
  }
}

async function findTraces(
  { bucketName }: SmokePlace,
  table: Table,
  s3: S3Client,
  { identity, ownsIdentity, license }: SmokeWorld,
  keyIds: string[],
): Promise<Traces> {
  const callers = [...keyIds, accountCallerId(license.ownerId)];
  const { licenseId } = license;
  const { apiKey, generation, idempotencyRecord, keyRoster, license: licenseKey, period, rateLog } = itemKeys;
  const { identityAudit, licenseAudit, refusals } = itemKeys;
  const keys = [
    licenseKey(licenseId),
    keyRoster(licenseId),
    period(licenseId, 0),
    generation(licenseId, ''),
    licenseAudit(licenseId, ''),
    refusals(licenseId, '', ''),
    ...callers.flatMap((id) => [apiKey(id), rateLog(id, ''), idempotencyRecord(id, '')]),
  ];
  const partitions = keys.map(({ PK }) => PK);
  const items = (await Promise.all(partitions.map((partition) => itemsOf(table, partition)))).flat();
  if (ownsIdentity) {
    const item = await getItem(table, itemKeys.identity(identity.identityId));
    if (item !== null) items.push(item);
    const trail = await itemsOf(table, identityAudit('').PK);
    items.push(...trail.filter(({ subjectId }) => subjectId === identity.identityId));
  }
  const prefixes = ['generations', 'uploads'].map((kind) => `${kind}/${license.licenseId}/`);
  const objectKeys = (await Promise.all(prefixes.map((prefix) => objectsOf(s3, bucketName, prefix)))).flat();
  return { items: items.map(({ PK, SK }) => ({ PK, SK })), objectKeys };
}

async function objectsOf(s3: S3Client, bucketName: string, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  let start: string | undefined;
  do {
    const page = await s3.send(
      new ListObjectsV2Command({ Bucket: bucketName, Prefix: prefix, ContinuationToken: start }),
    );
    keys.push(...(page.Contents ?? []).map(({ Key: key }) => key!));
    start = page.NextContinuationToken;
  } while (start !== undefined);
  return keys;
}

function itemsOf(table: Table, partition: string): Promise<Item[]> {
  const query = (start: Item | undefined) =>
    table.documents.send(
      new QueryCommand({
        TableName: table.name,
        KeyConditionExpression: 'PK = :partition',
        ExpressionAttributeValues: { ':partition': partition },
        ConsistentRead: true,
        ExclusiveStartKey: start,
      }),
    );
  return readAll(query, (item) => item);
}

async function deleteItem(table: Table, key: ItemKey): Promise<void> {
  await table.documents.send(new DeleteCommand({ TableName: table.name, Key: key }));
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, pauseMs));
}
