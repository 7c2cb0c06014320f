import { keyStatus, type KeyTimes } from './api-key.ts';
import { isKeyId } from '../base/ids.ts';
import { changesBetween, type Actor, type AuditChange, type LicenseAuditAction } from '../accounts/audit.ts';
import { isoTime } from '../base/clock.ts';
import { accountCallerId } from '../base/ids.ts';
import { recentKeys, whyNoRoom, type NoRoom } from './slots.ts';
import { newKeyLimit } from '../routes/limits.ts';
import { consumeFromRateLog, type RateDecision } from '../limits/rate-limit.ts';
import { serviceBusy } from '../base/errors.ts';
import { fromItem, toItem, ttlOf, type ApiKey } from './item.ts';
import { keyPages } from './pages.ts';
import { auditWrite } from '../accounts/audit-store.ts';
import { pause } from '../table/backoff.ts';
import { rateLogWrite, toRateLog, type StoredRateLog } from '../limits/rate-log-store.ts';
import { batchGet, batchGetAll, getItem, listOwned, type Item, type Table } from '../table/table.ts';
import { itemKeys, sortPrefixes, ttlAttribute, type ItemKey } from '../table/keys.ts';
import { transact, type TransactItems } from '../table/transact.ts';

export type { ApiKey };

/** What became of a key that was to be stored: it was, or one of its limits was reached. */
export type Insertion =
  | { stored: true; rate: RateDecision }
  | { stored: false; noRoom: NoRoom }
  | { stored: false; noRoom: null; rate: RateDecision };

/** An attempt fails only when another key was issued or revoked, so the limit of active keys ends most races. */
const maxInsertAttempts = 40;

const maxChangeAttempts = 10;

/** What its owner may change of a key. */
export type KeyChanges = Partial<Pick<ApiKey, 'name' | 'monthlyCredits'>>;

export type ApiKeyStore = ReturnType<typeof apiKeyStore>;

export function apiKeyStore(table: Table) {
  return {
    /**
     * Stores a new key, if its license has a place for it and its account may have one more today. An item lists the
     * license's keys that take a place, and the account's log the times of new keys. Each changes with every key that is
     * issued, so no two requests can both take the last place. What is refused counts for nothing.
     * @param by who issues it; its owner if nobody is named.
     */
    async insert(key: ApiKey, by: Actor = ownerOf(key)): Promise<Insertion> {
      const listKey = itemKeys.activeKeys(key.licenseId);
      const callerId = accountCallerId(key.ownerId);
      const logKey = itemKeys.rateLog(callerId, newKeyLimit.name);
      for (let attempt = 1; attempt <= maxInsertAttempts; attempt++) {
        const [stored, storedLog] = await batchGet(table, [listKey, logKey]);
        const activeKeys = activeKeysOf(stored);
        const noRoom = key.revokedAtMs === null ? whyNoRoom(activeKeys, key.createdAtMs) : null;
        if (noRoom !== null) return { stored: false, noRoom };
        const { log, version } = toRateLog(storedLog);
        const rate = consumeFromRateLog(log, key.createdAtMs, newKeyLimit);
        if (!rate.allowed) return { stored: false, noRoom, rate };
        const refusal = await transact(table, [
          {
            Put: {
              TableName: table.name,
              Item: toItem(key),
              ConditionExpression: 'attribute_not_exists(PK)',
            },
          },
          {
            Put: activeKeysWrite(
              listKey,
              recentKeys({ ...activeKeys, ...entryOf(key) }, key.createdAtMs),
              stored,
            ),
          },
          { Put: rateLogWrite(table, callerId, newKeyLimit.name, rate.log, version) },
          entry(key, by, 'key_issued', changesBetween({}, issuedMembers(key)), key.createdAtMs),
        ]);
        if (refusal === null) return { stored: true, rate };
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

    /** Several, as strongly as one; those that are there. */
    async getMany(keyIds: string[]): Promise<ApiKey[]> {
      const items = await batchGetAll(table, keyIds.map(itemKeys.apiKey));
      return items.filter((item) => item !== undefined).map(fromItem);
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
     * @param by who revokes it; its owner if nobody is named.
     * @returns the key as it is stored, with the time of the first revocation.
     */
    async revoke(key: ApiKey, nowMs: number, by: Actor = ownerOf(key)): Promise<ApiKey> {
      const revoked = { ...key, revokedAtMs: nowMs };
      const isActive = keyStatus(key, nowMs) === 'active';
      const refusal = await transact(table, [
        {
          Update: {
            TableName: table.name,
            Key: itemKeys.apiKey(key.keyId),
            UpdateExpression: 'SET revokedAtMs = :now, #ttl = :ttl',
            ConditionExpression: 'attribute_exists(PK) AND attribute_not_exists(revokedAtMs)',
            ExpressionAttributeNames: { '#ttl': ttlAttribute },
            ExpressionAttributeValues: { ':now': nowMs, ':ttl': ttlOf(revoked) },
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          },
        },
        {
          Update: {
            TableName: table.name,
            Key: itemKeys.activeKeys(key.licenseId),
            // One that has expired keeps its place no longer than it would anyway.
            UpdateExpression: isActive ? 'SET #key = :revoked ADD version :one' : 'ADD version :one',
            ...(isActive && { ExpressionAttributeNames: { '#key': key.keyId } }),
            ExpressionAttributeValues: {
              ':one': 1,
              ...(isActive && { ':revoked': timesOf(revoked) }),
            },
          },
        },
        entry(key, by, 'key_revoked', [], nowMs),
      ]);
      if (refusal === null) return revoked;
      const stored = refusal.items[0];
      if (stored === undefined) throw new Error('the key to revoke is not there');
      return fromItem(stored);
    },

    /**
     * Changes what a key's owner says of it. A change that came in between is kept where this one says nothing else.
     * @param by who changes it; its owner if nobody is named.
     * @returns the key as it is now; null when it is not there any more.
     */
    async change(
      key: ApiKey,
      changes: KeyChanges,
      nowMs: number,
      by: Actor = ownerOf(key),
    ): Promise<ApiKey | null> {
      let before = key;
      for (let attempt = 1; attempt <= maxChangeAttempts; attempt++) {
        const after = { ...before, ...changes };
        const changed = changesBetween(changeable(before), changeable(after));
        if (changed.length === 0) return before;
        const refusal = await transact(table, [
          { Update: keyChange(before, after) },
          entry(after, by, 'key_changed', changed, nowMs),
        ]);
        if (refusal === null) return after;
        const stored = refusal.items[0];
        if (stored === undefined) return null;
        before = fromItem(stored);
        await pause(attempt);
      }
      throw serviceBusy();
    },

    /** Every item of an account's keys, newest first. */
    listByOwner: (ownerId: string) =>
      listOwned(table, ownerId, sortPrefixes.apiKey, 'newest first', fromItem),

    listPage: keyPages(table),

    /** When each key was last used, from its rate logs; null for one that never was. */
    async lastUsed(keyIds: string[], limitNames: string[]): Promise<Map<string, number | null>> {
      const lastUsedMs = new Map<string, number | null>(keyIds.map((keyId) => [keyId, null]));
      const wanted = keyIds.flatMap((keyId) => limitNames.map((limitName) => ({ keyId, limitName })));
      const logs = await batchGetAll(
        table,
        wanted.map(({ keyId, limitName }) => itemKeys.rateLog(keyId, limitName)),
      );
      wanted.forEach(({ keyId }, i) => {
        const last = toRateLog(logs[i]).log.at(-1) ?? null;
        if (last !== null) lastUsedMs.set(keyId, Math.max(last, lastUsedMs.get(keyId) ?? 0));
      });
      return lastUsedMs;
    },
  };

  /** The change of a key that is as it was read. */
  function keyChange({ keyId, ...was }: ApiKey, { name, monthlyCredits }: ApiKey) {
    const hadBudget = was.monthlyCredits !== null;
    return {
      TableName: table.name,
      Key: itemKeys.apiKey(keyId),
      UpdateExpression:
        monthlyCredits === null ? 'SET #name = :name REMOVE #budget' : 'SET #name = :name, #budget = :budget',
      ConditionExpression: `#name = :wasName AND ${hadBudget ? '#budget = :wasBudget' : 'attribute_not_exists(#budget)'}`,
      ExpressionAttributeNames: { '#name': 'name', '#budget': 'monthlyCredits' },
      ExpressionAttributeValues: {
        ':name': name,
        ':wasName': was.name,
        ...(monthlyCredits !== null && { ':budget': monthlyCredits }),
        ...(hadBudget && { ':wasBudget': was.monthlyCredits }),
      },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    };
  }

  /** Who did what with a key. */
  function entry(
    key: ApiKey,
    by: Actor,
    action: LicenseAuditAction,
    changes: AuditChange[],
    nowMs: number,
  ): TransactItems[number] {
    const { keyId: subjectId, name, licenseId } = key;
    return auditWrite(table, { licenseId }, { by, action, subjectId, subjectName: name, changes }, nowMs);
  }

  /** Written only while the active keys are those that were read. */
  function activeKeysWrite(listKey: ItemKey, activeKeys: Record<string, KeyTimes>, read: Item | undefined) {
    const readVersion: number = read?.version ?? 0;
    return {
      TableName: table.name,
      Item: { ...listKey, ...activeKeys, version: readVersion + 1 },
      ConditionExpression: 'attribute_not_exists(PK) OR version = :read',
      ExpressionAttributeValues: { ':read': readVersion },
    };
  }
}

/** What the audit log says of a new key. */
function issuedMembers({ name, expiresAtMs, monthlyCredits }: ApiKey) {
  return { name, expiresAt: isoTime(expiresAtMs), monthlyCredits };
}

function changeable({ name, monthlyCredits }: ApiKey) {
  return { name, monthlyCredits };
}

function ownerOf({ ownerId }: ApiKey): Actor {
  return `account:${ownerId}`;
}

/** The item has a member for each key that takes a place. */
function activeKeysOf(item: Item | undefined): Record<string, KeyTimes> {
  return Object.fromEntries(Object.entries(item ?? {}).filter(([name]) => isKeyId(name)));
}

/** One that is revoked from the start takes no place. */
function entryOf(key: ApiKey): Record<string, KeyTimes> {
  return key.revokedAtMs === null ? { [key.keyId]: timesOf(key) } : {};
}

function timesOf({ revokedAtMs, expiresAtMs }: ApiKey): KeyTimes {
  return { revokedAtMs, expiresAtMs };
}
