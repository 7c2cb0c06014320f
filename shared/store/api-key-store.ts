import { isKeyId, maxActiveKeys } from '../domain/api-key.ts';
import { serviceBusy } from '../errors.ts';
import { pause } from './backoff.ts';
import { toRateLog, type StoredRateLog } from './rate-log-store.ts';
import { batchGet, getItem, listOwned, type Item, type Table } from './table.ts';
import { itemKeys, ownerIndex, sortPrefixes } from './table-keys.ts';
import { transact } from './transact.ts';

/** What is stored of an API key. Times are milliseconds since 1970. */
export interface ApiKey {
  keyId: string;
  sha256: string;
  keyPrefix: string;
  name: string;
  licenseId: string;
  ownerId: string;
  createdAtMs: number;
  expiresAtMs: number | null;
  revokedAtMs: number | null;
}

/** An attempt fails only when another key was issued or revoked, so the limit of active keys ends most races. */
const maxInsertAttempts = maxActiveKeys + 5;
/** The expiry, in a roster, of a key that does not expire. */
const never = 0;

export type ApiKeyStore = ReturnType<typeof apiKeyStore>;

export function apiKeyStore(table: Table) {
  return {
    /**
     * Stores a new key, unless its license has as many active keys as it may have. The license's roster lists them. It
     * changes with each key that is issued or revoked, so no two requests can both take the last place.
     * @returns whether there was room.
     */
    async insert(key: ApiKey): Promise<boolean> {
      const rosterKey = itemKeys.keyRoster(key.licenseId);
      for (let attempt = 1; attempt <= maxInsertAttempts; attempt++) {
        const roster = await getItem(table, rosterKey);
        const active = activeOf(roster, key.createdAtMs);
        if (key.revokedAtMs === null) {
          if (Object.keys(active).length >= maxActiveKeys) return false;
          active[key.keyId] = key.expiresAtMs ?? never;
        }
        const readVersion: number = roster?.version ?? 0;
        const refusal = await transact(table, [
          {
            Put: {
              TableName: table.name,
              Item: toItem(key),
              ConditionExpression: 'attribute_not_exists(PK)',
            },
          },
          {
            Put: {
              TableName: table.name,
              Item: { ...rosterKey, ...active, version: readVersion + 1 },
              ConditionExpression: 'attribute_not_exists(PK) OR version = :read',
              ExpressionAttributeValues: { ':read': readVersion },
            },
          },
        ]);
        if (refusal === null) return true;
        if (refusal.failed[0]) throw new Error('a key with this id is there already');
        await pause(attempt);
      }
      throw serviceBusy();
    },

    /** A strong read: a revocation holds from the next request on. */
    async get(keyId: string): Promise<ApiKey | null> {
      const item = await getItem(table, itemKeys.apiKey(keyId));
      return item && fromItem(item);
    },

    /** The key and what its rate limit needs, in one strong read. */
    async getWithRateLog(
      keyId: string,
      limitName: string,
    ): Promise<{ key: ApiKey | null; rate: StoredRateLog }> {
      const [key, rate] = await batchGet(table, [itemKeys.apiKey(keyId), itemKeys.rateLog(keyId, limitName)]);
      return { key: key ? fromItem(key) : null, rate: toRateLog(rate) };
    },

    /**
     * Revokes a key at once and for good. Repeating it changes nothing.
     * @returns the key as it is stored, with the time of the first revocation.
     */
    async revoke(key: ApiKey, nowMs: number): Promise<ApiKey> {
      const refusal = await transact(table, [
        {
          Update: {
            TableName: table.name,
            Key: itemKeys.apiKey(key.keyId),
            UpdateExpression: 'SET revokedAtMs = :now',
            ConditionExpression: 'attribute_exists(PK) AND attribute_not_exists(revokedAtMs)',
            ExpressionAttributeValues: { ':now': nowMs },
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          },
        },
        {
          Update: {
            TableName: table.name,
            Key: itemKeys.keyRoster(key.licenseId),
            UpdateExpression: 'REMOVE #key ADD version :one',
            ExpressionAttributeNames: { '#key': key.keyId },
            ExpressionAttributeValues: { ':one': 1 },
          },
        },
      ]);
      if (refusal === null) return { ...key, revokedAtMs: nowMs };
      const stored = refusal.items[0];
      if (stored === undefined) throw new Error('the key to revoke is not there');
      return fromItem(stored);
    },

    /** An account's keys, newest first. */
    listByOwner: (ownerId: string) =>
      listOwned(table, ownerId, sortPrefixes.apiKey, 'newest first', fromItem),

    /** When each key was last used, from its rate logs; null for one that never was. */
    async lastUsed(keyIds: string[], limitNames: string[]): Promise<Map<string, number | null>> {
      const lastUsedMs = new Map<string, number | null>(keyIds.map((keyId) => [keyId, null]));
      const wanted = keyIds.flatMap((keyId) => limitNames.map((limitName) => ({ keyId, limitName })));
      for (let i = 0; i < wanted.length; i += 100) {
        const chunk = wanted.slice(i, i + 100);
        const items = await batchGet(
          table,
          chunk.map(({ keyId, limitName }) => itemKeys.rateLog(keyId, limitName)),
        );
        chunk.forEach(({ keyId }, j) => {
          const last = toRateLog(items[j]).log.at(-1) ?? null;
          if (last !== null) lastUsedMs.set(keyId, Math.max(last, lastUsedMs.get(keyId) ?? 0));
        });
      }
      return lastUsedMs;
    },
  };
}

/** The keys of a roster that have not expired, with the times of their expiry. */
function activeOf(roster: Item | null, nowMs: number): Record<string, number> {
  const entries = Object.entries(roster ?? {}).filter(
    ([name, expiresAtMs]) => isKeyId(name) && (expiresAtMs === never || expiresAtMs > nowMs),
  );
  return Object.fromEntries(entries);
}

function toItem(key: ApiKey): Item {
  const { expiresAtMs, revokedAtMs, ...rest } = key;
  return {
    ...itemKeys.apiKey(key.keyId),
    [ownerIndex.partition]: ownerIndex.of(key.ownerId),
    [ownerIndex.sort]: ownerIndex.sortOf(sortPrefixes.apiKey, key.createdAtMs, key.keyId),
    ...rest,
    ...(expiresAtMs === null ? {} : { expiresAtMs }),
    ...(revokedAtMs === null ? {} : { revokedAtMs }),
  };
}

function fromItem(item: Item): ApiKey {
  return {
    keyId: item.keyId,
    sha256: item.sha256,
    keyPrefix: item.keyPrefix,
    name: item.name,
    licenseId: item.licenseId,
    ownerId: item.ownerId,
    createdAtMs: item.createdAtMs,
    expiresAtMs: item.expiresAtMs ?? null,
    revokedAtMs: item.revokedAtMs ?? null,
  };
}
