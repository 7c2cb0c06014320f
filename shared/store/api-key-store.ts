import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { RateLog } from '../domain/rate-limit.ts';
import { batchGet, getItem, insertItem, listOwned, updateItem, type Item, type Table } from './table.ts';
import { itemKeys, ownerIndex, sortPrefixes } from './table-keys.ts';

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

/** A rate log as it was read: writing it back needs its version unchanged. */
export interface StoredRateLog {
  log: RateLog;
  version: number;
}

export type ApiKeyStore = ReturnType<typeof apiKeyStore>;

export function apiKeyStore(table: Table) {
  const { documents, name } = table;
  return {
    insert: (key: ApiKey) => insertItem(table, toItem(key)),

    /** Strong, so that a revocation holds from the next request on. */
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

    /** @returns null when written, otherwise the log that another request wrote first. */
    async putRateLog(
      keyId: string,
      limitName: string,
      log: RateLog,
      readVersion: number,
    ): Promise<StoredRateLog | null> {
      try {
        await documents.send(
          new PutCommand({
            TableName: name,
            Item: { ...itemKeys.rateLog(keyId, limitName), usedAtMs: log, version: readVersion + 1 },
            ConditionExpression: readVersion === 0 ? 'attribute_not_exists(PK)' : 'version = :read',
            ...(readVersion === 0 ? {} : { ExpressionAttributeValues: { ':read': readVersion } }),
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        );
        return null;
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
        return toRateLog(error.Item && unmarshall(error.Item));
      }
    },

    /** Immediate and for good; repeating it changes nothing. @returns null when there is no such key. */
    async revoke(keyId: string, nowMs: number): Promise<ApiKey | null> {
      const item = await updateItem(table, itemKeys.apiKey(keyId), {
        UpdateExpression: 'SET revokedAtMs = if_not_exists(revokedAtMs, :now)',
        ExpressionAttributeValues: { ':now': nowMs },
      });
      return item && fromItem(item);
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

function toRateLog(item: Item | undefined): StoredRateLog {
  return { log: item?.usedAtMs ?? [], version: item?.version ?? 0 };
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
