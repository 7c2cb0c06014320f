import { isDeepStrictEqual } from 'node:util';
import { changesBetween, someOperator, type Actor } from '../accounts/audit.ts';
import { licenseMembers } from './license.ts';
import type { License } from './license.ts';
import { auditEntry, type AuditNote } from '../accounts/audit-store.ts';
import { untilDecided } from '../table/backoff.ts';
import { batchGetAll, getItem, listOwned, scanAll, type Item, type Table } from '../table/table.ts';
import { itemKeys, ownerIndex, sortPrefixes } from '../table/keys.ts';
import { transact } from '../table/transact.ts';
import { keepEnd } from './period-store.ts';

/** The members of a license that may change. Its id, its owner and its creation may not, and extra credits have a store. */
export type LicenseChange = Partial<Omit<License, 'licenseId' | 'ownerId' | 'createdAtMs' | 'extraUntilMs'>>;

/** An attempt fails only when another change of the same members came in between. */
const maxUpdateAttempts = 10;

export type LicenseStore = ReturnType<typeof licenseStore>;

export function licenseStore(table: Table) {
  return {
    /**
     * Writes a new license, and that it was granted.
     * @param reason why it is granted to an account that nobody may be able to sign in with; for the audit log.
     * @throws an error when its id is taken by another.
     */
    async insert(license: License, by: Actor = someOperator, reason: string | null = null): Promise<void> {
      const changes = changesBetween({}, { ...licenseMembers(license), forcedBecause: reason });
      const note = { by, action: 'license_granted', changes } as const;
      const item = toItem(license);
      const refusal = await transact<object>(table, [
        {
          key: itemKeys.license(license.licenseId),
          put: item,
          condition: 'attribute_not_exists(PK)',
          refusal: (found) => found ?? {},
        },
        licenseEntry(license.licenseId, note, license.createdAtMs),
      ]);
      // Whoever tries again after a lost answer finds the first one's result.
      if (refusal !== null && !isDeepStrictEqual(refusal, item)) {
        throw new Error('a license with this id is there already');
      }
    },

    /** A strong read: a change holds from the next request on. */
    async get(licenseId: string): Promise<License | null> {
      const item = await getItem(table, itemKeys.license(licenseId));
      return item && fromItem(item);
    },

    /** Several, read as strongly as one; those that are there, by their ids. */
    async getMany(licenseIds: string[]): Promise<Map<string, License>> {
      const items = await batchGetAll(table, licenseIds.map(itemKeys.license));
      const found = items.filter((item) => item !== undefined).map(fromItem);
      return new Map(found.map((license) => [license.licenseId, license]));
    },

    /**
     * Writes only the given members, and what they were before. So it is tried again when another change of these
     * members comes in between.
     * @returns the license as it is now, null when there is none.
     */
    async update(
      licenseId: string,
      change: LicenseChange,
      by: Actor = someOperator,
      nowMs = Date.now(),
    ): Promise<License | null> {
      return untilDecided(maxUpdateAttempts, async () => {
        const stored = await getItem(table, itemKeys.license(licenseId));
        if (stored === null) return null;
        const before = fromItem(stored);
        const after = { ...before, ...change };
        if (isDeepStrictEqual(after, before)) return before;
        const changes = changesBetween(licenseMembers(before), licenseMembers(after));
        const refusal = await transact<object>(table, [
          { key: itemKeys.license(licenseId), ...setting(change, stored), refusal: () => ({}) },
          keepEnd(before, after, nowMs),
          licenseEntry(licenseId, { by, action: 'license_changed', changes }, nowMs),
        ]);
        return refusal === null ? after : undefined;
      });
    },

    /** An account's licenses, oldest first. */
    listByOwner: (ownerId: string) =>
      listOwned(table, ownerId, sortPrefixes.license, 'oldest first', fromItem),

    /** Every license, by reading the whole table: for the operator's CLI, never for a request. */
    async listAll(): Promise<License[]> {
      const scan = {
        FilterExpression: 'SK = :license',
        ExpressionAttributeValues: { ':license': 'LICENSE' },
      };
      return (await scanAll(table, scan, fromItem)).sort((a, b) => a.createdAtMs - b.createdAtMs);
    },
  };
}

/** The audit entry of a change of a license, as a part of its transaction. */
export function licenseEntry(
  licenseId: string,
  note: Pick<AuditNote, 'by' | 'action' | 'changes'>,
  nowMs: number,
): ReturnType<typeof auditEntry> {
  return auditEntry({ licenseId }, { ...note, subjectId: licenseId, subjectName: null }, nowMs);
}

/** Sets members that are still as they were read. */
function setting(change: LicenseChange, read: Item) {
  const members = Object.entries(change);
  const isAsRead = ([member]: [string, unknown], i: number) =>
    read[member] === undefined ? `attribute_not_exists(#m${i})` : `#m${i} = :r${i}`;
  return {
    update: { SET: members.map((_, i) => `#m${i} = :m${i}`).join(', ') },
    condition: ['attribute_exists(PK)', ...members.map(isAsRead)].join(' AND '),
    names: Object.fromEntries(members.map(([member], i) => [`#m${i}`, member])),
    values: Object.fromEntries(
      members.flatMap(([member, value], i) => [
        [`:m${i}`, value],
        ...(read[member] === undefined ? [] : [[`:r${i}`, read[member]]]),
      ]),
    ),
  };
}

export function toItem(license: License): Item {
  return {
    ...itemKeys.license(license.licenseId),
    [ownerIndex.partition]: ownerIndex.of(license.ownerId),
    [ownerIndex.sort]: ownerIndex.sortOf(sortPrefixes.license, license.createdAtMs, license.licenseId),
    ...license,
  };
}

export function fromItem(item: Item): License {
  return {
    licenseId: item.licenseId,
    ownerId: item.ownerId,
    // Licenses of before names have neither.
    givenName: item.givenName ?? null,
    planName: item.planName ?? null,
    tier: item.tier,
    creditsLimit: item.creditsLimit,
    foundingCatalog: item.foundingCatalog,
    identityIds: item.identityIds,
    apiAccess: item.apiAccess,
    status: item.status,
    // Licenses of before these members existed have none of them.
    graceUntilMs: item.graceUntilMs ?? null,
    suspended: item.suspended ?? null,
    periodAnchorMs: item.periodAnchorMs,
    carried: item.carried ?? null,
    activeUntilMs: item.activeUntilMs,
    // Older licenses have none of them.
    moderation: item.moderation ?? null,
    extraUntilMs: item.extraUntilMs ?? null,
    maxInFlight: item.maxInFlight ?? null,
    createdAtMs: item.createdAtMs,
  };
}
