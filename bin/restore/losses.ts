import { paginateListObjectsV2, S3Client } from '@aws-sdk/client-s3';
import type { Actor } from '../../shared/accounts/audit.ts';
import { systemClock } from '../../shared/base/clock.ts';
import { sweep } from '../../shared/generations/sweep.ts';
import { objectStore, tombstones } from '../../shared/images/object-store.ts';
import { whyInactive, type License } from '../../shared/licenses/license.ts';
import { fromItem } from '../../shared/licenses/store.ts';
import { scanAll } from '../../shared/table/table.ts';
import { requestEraser } from '../common/erase.ts';
import { Failure } from '../common/failure.ts';
import { counted } from '../common/output.ts';
import { openStores, type Stores } from '../common/stores.ts';

/** What must not come back to life. */
export interface Losses {
  keyIds: string[];
  licenses: Pick<
    License,
    'licenseId' | 'status' | 'graceUntilMs' | 'suspended' | 'apiAccess' | 'activeUntilMs' | 'givenName'
  >[];
  sessions: { ownerId: string; endedAtMs: number }[];
}

/**
 * Every revoked key, every license that is not active, and when sessions ended, whenever that was: to take them away twice
 * does no harm. A revoked key's item goes long before a copy that has the key does, so the audit log names it too.
 */
export async function readLosses(tableName: string): Promise<Losses> {
  const { table, close } = openStores(tableName);
  const scan = {
    ConsistentRead: true,
    FilterExpression:
      'attribute_exists(revokedAtMs) OR #action = :revoked OR SK = :license OR attribute_exists(sessionsEndedAtMs)',
    ExpressionAttributeNames: { '#action': 'action' },
    ExpressionAttributeValues: { ':revoked': 'key_revoked', ':license': 'LICENSE' },
  };
  const items = await scanAll(table, scan, (item) => item).finally(close);
  const of = (SK: string) => items.filter((item) => item.SK === SK);
  const audited = items.filter(({ action }) => action !== undefined);
  const inactive = of('LICENSE')
    .map(fromItem)
    .filter((license) => whyInactive(license, Date.now()) !== null);
  return {
    keyIds: [
      ...new Set([...of('KEY').map(({ keyId }) => keyId), ...audited.map(({ subjectId }) => subjectId)]),
    ],
    licenses: inactive.map((license) => {
      const { licenseId, status, graceUntilMs, suspended, apiAccess, activeUntilMs, givenName } = license;
      return { licenseId, status, graceUntilMs, suspended, apiAccess, activeUntilMs, givenName };
    }),
    sessions: of('SETTINGS').map(({ PK, sessionsEndedAtMs: endedAtMs }) => {
      return { ownerId: String(PK).slice('ACCOUNT#'.length), endedAtMs };
    }),
  };
}

const none: Losses = { keyIds: [], licenses: [], sessions: [] };

/** Takes away again what is there, while nobody uses the table. @returns what it did, in sentences. */
export async function loseAgain(
  stores: Stores,
  bucketName: string,
  by: Actor,
  { keyIds, licenses, sessions }: Losses = none,
): Promise<string[]> {
  const { apiKeys, generations, deletions } = stores;
  const keys = await apiKeys.getMany(keyIds);
  for (const key of keys) await apiKeys.revoke(key, Date.now(), by);
  const inactive = [];
  for (const { licenseId, ...change } of licenses) {
    if ((await stores.licenses.update(licenseId, change, by)) !== null) inactive.push(licenseId);
  }
  for (const { ownerId, endedAtMs } of sessions) await stores.accounts.endSessions(ownerId, endedAtMs);
  const objects = objectStore(bucketName);
  const deps = { generations, deletions, objects, clock: systemClock, logFault: () => {} };
  // Nothing runs, whatever its lease says.
  const { released, failed } = await sweep(deps, Number.MAX_SAFE_INTEGER);
  if (failed > 0) throw new Failure(`${counted(failed, 'request')} could not be ended.`);
  const count = await applyTombstones(stores, bucketName);
  return [
    `${counted(keys.length, 'key')} revoked, ${counted(inactive.length, 'license')} not active, ${counted(sessions.length, 'account')} signed out.`,
    `${counted(keyIds.length - keys.length, 'key')} and ${counted(licenses.length - inactive.length, 'license')} more are not there: they were made since, or are long gone.`,
    `${counted(released, 'request')} that ran ended, and ${counted(count, 'deletion')} looked at.`,
  ];
}

/** Each is looked up, whenever it was written: a deletion may have gone on long after. @returns how many there are. */
async function applyTombstones(stores: Stores, bucketName: string): Promise<number> {
  const eraser = await requestEraser(stores, bucketName);
  const client = new S3Client({});
  let count = 0;
  try {
    for await (const page of paginateListObjectsV2({ client }, { Bucket: bucketName, Prefix: tombstones })) {
      const keys = (page.Contents ?? []).map((object) => object.Key!.split('/'));
      for (let i = 0; i < keys.length; i += 20) {
        const some = keys.slice(i, i + 20);
        const gone = await Promise.all(
          some.map(([, licenseId, id]) => eraser.removeIfThere(licenseId!, id!)),
        );
        if (gone.includes(false)) throw new Failure('A request that was deleted still runs.');
      }
      count += keys.length;
    }
  } finally {
    client.destroy();
  }
  return count;
}
