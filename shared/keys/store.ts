import { keyStatus, type KeyTimes } from './api-key.ts';
import { changesBetween, type Actor, type AuditChange, type LicenseAuditAction } from '../accounts/audit.ts';
import { isoTime } from '../base/clock.ts';
import { accountCallerId, isKeyId } from '../base/ids.ts';
import { recentKeys, whyNoRoom, type NoRoom } from './slots.ts';
import { newKeyLimit } from '../routes/limits.ts';
import { consumeFromRateLog, type RateDecision } from '../limits/rate-limit.ts';
import { fromItem, toItem, ttlOf, type ApiKey } from './item.ts';
import { keyPages } from './pages.ts';
import { auditEntry } from '../accounts/audit-store.ts';
import { untilDecided } from '../table/backoff.ts';
import { rateLogPart, toRateLog, type StoredRateLog } from '../limits/rate-log-store.ts';
import { batchGet, batchGetAll, getItem, listOwned, type Item, type Table } from '../table/table.ts';
import { itemKeys, sortPrefixes, ttlAttribute } from '../table/keys.ts';
import { transact, type Part } from '../table/transact.ts';

export type { ApiKey };

/** What became of a key that was to be stored: it was, or one of its limits was reached. */
export type Insertion =
  | { stored: true; rate: RateDecision }
  | { stored: false; noRoom: NoRoom }
  | { stored: false; noRoom: null; rate: RateDecision };

/** An attempt fails only when another key was issued or revoked, so the limit of active keys ends most races. */
const maxInsertAttempts = 40;

const maxChangeAttempts = 10;

/** The key as it is stored; nothing where it is not there. */
type KeyRefusal = { stored?: Item | undefined };

const changeableNames = ['name', 'monthlyCredits', 'access', 'maxInFlight'] as const;

/** What its owner may change of a key. */
export type KeyChanges = Partial<Pick<ApiKey, (typeof changeableNames)[number]>>;

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
      return untilDecided(maxInsertAttempts, async () => {
        const [stored, storedLog] = await batchGet(table, [listKey, logKey]);
        const activeKeys = activeKeysOf(stored);
        const noRoom = key.revokedAtMs === null ? whyNoRoom(activeKeys, key.createdAtMs) : null;
        if (noRoom !== null) return { stored: false, noRoom };
        const { log, version } = toRateLog(storedLog);
        const rate = consumeFromRateLog(log, key.createdAtMs, newKeyLimit);
        if (!rate.allowed) return { stored: false, noRoom, rate };
        const again = () => 'again' as const;
        const refusal = await transact<'taken' | 'again' | object>(table, [
          {
            key: itemKeys.apiKey(key.keyId),
            put: toItem(key),
            condition: 'attribute_not_exists(PK)',
            refusal: () => 'taken',
          },
          {
            key: listKey,
            put: {
              ...recentKeys({ ...activeKeys, ...entryOf(key) }, key.createdAtMs),
              version: (stored?.version ?? 0) + 1,
            },
            // Written only while the active keys are those that were read.
            condition: 'attribute_not_exists(PK) OR version = :read',
            values: { ':read': stored?.version ?? 0 },
            refusal: again,
          },
          { ...rateLogPart(callerId, newKeyLimit.name, rate.log, version), refusal: again },
          entry(
            key,
            by,
            'key_issued',
            changesBetween({ access: 'license' }, issuedMembers(key)),
            key.createdAtMs,
          ),
        ]);
        if (refusal === 'taken') throw new Error('a key with this id is there already');
        return refusal === null ? { stored: true, rate } : undefined;
      });
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
      const refusal = await transact<KeyRefusal>(table, [
        {
          key: itemKeys.apiKey(key.keyId),
          update: { SET: 'revokedAtMs = :now, #ttl = :ttl' },
          condition: 'attribute_exists(PK) AND attribute_not_exists(revokedAtMs)',
          names: { '#ttl': ttlAttribute },
          values: { ':now': nowMs, ':ttl': ttlOf(revoked) },
          refusal: (stored) => ({ stored }),
        },
        {
          key: itemKeys.activeKeys(key.licenseId),
          update: { ADD: 'version :one', ...(isActive && { SET: '#key = :revoked' }) },
          // One that has expired keeps its place no longer than it would anyway.
          ...(isActive && { names: { '#key': key.keyId } }),
          values: { ':one': 1, ...(isActive && { ':revoked': timesOf(revoked) }) },
        },
        entry(key, by, 'key_revoked', [], nowMs),
      ]);
      if (refusal === null) return revoked;
      if (!refusal.stored) throw new Error('the key to revoke is not there');
      return fromItem(refusal.stored);
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
      return untilDecided(maxChangeAttempts, async () => {
        const after = { ...before, ...changes };
        const changed = changesBetween(changeable(before), changeable(after));
        if (changed.length === 0) return before;
        const refusal = await transact<KeyRefusal>(table, [
          keyChange(before, after),
          entry(after, by, 'key_changed', changed, nowMs),
        ]);
        if (refusal === null) return after;
        if (!refusal.stored) return null;
        before = fromItem(refusal.stored);
        return undefined;
      });
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
}

/** The change of a key that is as it was read. */
function keyChange(before: ApiKey, after: ApiKey): Part<KeyRefusal> {
  const [was, is] = [toItem(before), toItem(after)];
  const has = (item: Item) => changeableNames.filter((name) => item[name] !== undefined);
  const gone = changeableNames.filter((name) => is[name] === undefined);
  return {
    key: itemKeys.apiKey(before.keyId),
    update: {
      SET: has(is)
        .map((name) => `#${name} = :${name}`)
        .join(', '),
      ...(gone.length > 0 && { REMOVE: gone.map((name) => `#${name}`).join(', ') }),
    },
    condition: changeableNames
      .map((name) => (was[name] === undefined ? `attribute_not_exists(#${name})` : `#${name} = :was_${name}`))
      .join(' AND '),
    names: Object.fromEntries(changeableNames.map((name) => [`#${name}`, name])),
    values: Object.fromEntries([
      ...has(is).map((name) => [`:${name}`, is[name]]),
      ...has(was).map((name) => [`:was_${name}`, was[name]]),
    ]),
    refusal: (stored) => ({ stored }),
  };
}

/** Who did what with a key. */
function entry(key: ApiKey, by: Actor, action: LicenseAuditAction, changes: AuditChange[], nowMs: number) {
  const { keyId: subjectId, name, licenseId } = key;
  return auditEntry({ licenseId }, { by, action, subjectId, subjectName: name, changes }, nowMs);
}

/** What the audit log says of a new key. */
function issuedMembers(key: ApiKey) {
  const { name, ...others } = changeable(key);
  return { name, expiresAt: isoTime(key.expiresAtMs), ...others };
}

function changeable({ name, monthlyCredits, access, maxInFlight }: ApiKey) {
  return { name, monthlyCredits, access, maxInFlight };
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
