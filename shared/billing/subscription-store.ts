import { changesBetween, type Actor } from '../accounts/audit.ts';
import { licenseMembers } from '../licenses/license.ts';
import type { License } from '../licenses/license.ts';
import { awaitsOwner, lastSnapshot, noRegisters, type BillingRegisters } from './subscription.ts';
import type { StoredSubscription } from './subscription-license.ts';
import { keepEnd } from '../licenses/period-store.ts';
import { licenseEntry, licenseStore, toItem } from '../licenses/store.ts';
import { getItem, listOwned, type Table } from '../table/table.ts';
import { itemKeys, leaseIndex, ownerIndex, sortPrefixes } from '../table/keys.ts';
import { transact, type Part } from '../table/transact.ts';

/** A subscription as it was read. It can be written only while both of its items are unchanged. */
export interface ReadSubscription extends StoredSubscription {
  version: number;
  /** From when on it is listed as one that nobody owns; null where it is not. */
  unboundFromMs: number | null;
}

/** A checkout's event comes within seconds. */
const unboundAfterMs = 60 * 60 * 1000;

/** The members of a license that billing sets. The others are set by the operator, or never change. */
const billedMembers = [
  'planName',
  'tier',
  'creditsLimit',
  'foundingCatalog',
  'identityIds',
  'status',
  'graceUntilMs',
  'periodAnchorMs',
  'carried',
  'activeUntilMs',
] as const satisfies (keyof License)[];

function billedPart(license: License): Pick<License, (typeof billedMembers)[number]> {
  const part = Object.fromEntries(billedMembers.map((member) => [member, license[member]]));
  return part as Pick<License, (typeof billedMembers)[number]>;
}

export type SubscriptionStore = ReturnType<typeof subscriptionStore>;

export function subscriptionStore(table: Table) {
  return {
    /** Two strong reads, one after the other. If an item changes in between, `put` is refused. */
    async get(licenseId: string): Promise<ReadSubscription> {
      const billing = await getItem(table, itemKeys.billing(licenseId));
      const license = await licenseStore(table).get(licenseId);
      const { snapshots, paid, failed, moments, standing, owner, endedByOperator } = {
        ...noRegisters,
        ...billing,
      };
      return {
        license,
        registers: { snapshots, paid, failed, moments, standing, owner, endedByOperator },
        version: billing?.version ?? 0,
        unboundFromMs: billing?.[leaseIndex.sort] ?? null,
      };
    },

    /**
     * Writes the registers and, where there is one to write, the license in one transaction.
     * @param by the event that changes it.
     * @returns false when another event came in between, or the operator changed the license's status.
     */
    async put(
      licenseId: string,
      read: ReadSubscription,
      next: StoredSubscription,
      by: Actor,
    ): Promise<boolean> {
      const isUnbound = (next.license ?? read.license) === null && awaitsOwner(next.registers);
      const listing = {
        [leaseIndex.partition]: leaseIndex.unbound,
        [leaseIndex.sort]: read.unboundFromMs ?? Date.now() + unboundAfterMs,
      };
      const billing: Part<object> = {
        key: itemKeys.billing(licenseId),
        put: {
          ...next.registers,
          version: read.version + 1,
          ...(isUnbound && listing),
          ...byCustomer(licenseId, next.registers),
        },
        ...(read.version === 0
          ? { condition: 'attribute_not_exists(PK)' }
          : { condition: 'version = :read', values: { ':read': read.version } }),
        refusal: () => ({}),
      };
      const license =
        next.license === null
          ? []
          : [
              licensePart(next.license, read.license),
              keepEnd(read.license, next.license, Date.now()),
              changeEntry(read.license, next.license, by),
            ];
      return (await transact<object>(table, [billing, ...license])) === null;
    },

    /** The licenses of a customer's subscriptions, oldest first, also those that nobody owns yet. For operators. */
    listByCustomer: (customerId: string): Promise<string[]> =>
      listOwned(table, customerId, sortPrefixes.subscription, 'oldest first', ({ PK }) =>
        String(PK).replace('LICENSE#', ''),
      ),
  };
}

/** By the index of owners, which for this takes no other index and no other item. */
function byCustomer(licenseId: string, registers: BillingRegisters): Record<string, string> {
  const { customerId, createdAtMs } = lastSnapshot(registers) ?? {};
  if (!customerId || createdAtMs === undefined) return {};
  return {
    [ownerIndex.partition]: ownerIndex.of(customerId),
    [ownerIndex.sort]: ownerIndex.sortOf(sortPrefixes.subscription, createdAtMs, licenseId),
  };
}

/** What an event changed, if it made a license or changed one. */
function changeEntry(before: License | null, billed: License, by: Actor): Part<object> | null {
  // Of a license that exists, the other members stay as they are.
  const after = before === null ? billed : { ...before, ...billedPart(billed) };
  const changes = changesBetween(before ? licenseMembers(before) : {}, licenseMembers(after));
  if (changes.length === 0) return null;
  const action = before === null ? 'license_granted' : 'license_changed';
  return licenseEntry(after.licenseId, { by, action, changes }, Date.now());
}

function licensePart(license: License, before: License | null): Part<object> {
  const key = itemKeys.license(license.licenseId);
  const refusal = () => ({});
  if (before === null) {
    return { key, put: toItem(license), condition: 'attribute_not_exists(PK)', refusal };
  }
  const members = Object.entries(billedPart(license));
  return {
    key,
    update: { SET: members.map(([member]) => `#${member} = :${member}`).join(', ') },
    // Refuses the write if the operator ended the license in between.
    condition: '#status = :before',
    names: Object.fromEntries(members.map(([member]) => [`#${member}`, member])),
    values: {
      ':before': before.status,
      ...Object.fromEntries(members.map(([member, value]) => [`:${member}`, value])),
    },
    refusal,
  };
}
