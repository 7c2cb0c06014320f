import { openStores } from '../../../bin/common/stores.ts';
import { applyBillingEvidence } from '../../../shared/billing/apply-event.ts';
import type {
  BillingEvidence,
  InvoiceEvidence,
  SubscriptionSnapshot,
  SubscriptionState,
} from '../../../shared/billing/evidence.ts';
import { licenseIdOf } from '../../../shared/billing/subscription-license.ts';
import { subscriptionStore, type SubscriptionStore } from '../../../shared/billing/subscription-store.ts';
import { fingerprintApiKey, newApiKey } from '../../../shared/keys/api-key.ts';
import type { ApiKey } from '../../../shared/keys/store.ts';
import { activeVersion } from '../../../shared/identities/version.ts';
import { billingPeriod, monthAfter } from '../../../shared/licenses/billing-period.ts';
import type { License } from '../../../shared/licenses/license.ts';
import { openTable } from '../../../shared/table/table.ts';
import { sampleIdentity, sampleLicense } from '../../support/unit-samples.ts';
import type { Outside } from './outside.ts';
import { seededRandom, type Random } from './random.ts';

/** A switch on or off. Between the asking and the answer nobody can know which of the two holds. */
interface Change {
  isOpen: boolean;
  asked: number;
  answered: number;
}

/** Follows whether a key, a license or an identity's model may be used. To begin with it may. */
function createAccess(moment: () => number) {
  const changes: Change[] = [{ isOpen: true, asked: 0, answered: 0 }];
  return {
    isOpen: () => changes.at(-1)!.isOpen,
    async change(isOpen: boolean, by: () => Promise<unknown>): Promise<void> {
      const change = { isOpen, asked: moment(), answered: Infinity };
      changes.push(change);
      await by();
      change.answered = moment();
    },
    /** Whether somebody may have found it open, or closed, since a moment. */
    mayHaveBeen(isOpen: boolean, since: number): boolean {
      const known = changes.findLastIndex(({ answered }) => answered <= since);
      return changes.slice(known).some((change) => change.isOpen === isOpen);
    },
  };
}

type Subscription = ReturnType<typeof createSubscription>;

/** What Stripe knows of a tenant, whose license grants what its price grants. */
function createSubscription(
  number: number,
  { ownerId, tier, creditsLimit }: License,
  store: SubscriptionStore,
) {
  const subscriptionId = `sub_${number}`;
  const prices = { price_1: { tier, creditsPerMonth: creditsLimit, foundingCatalog: true } };
  let events = 0;
  const event = (occurredAtMs: number) => ({ eventId: `evt_${(events += 1)}`, occurredAtMs, subscriptionId });
  const state: SubscriptionState = {
    status: 'active',
    items: [{ priceId: 'price_1', quantity: 1 }],
    periodEndMs: monthAfter(anchorMs),
    anchorMs,
    cancelAtMs: null,
    cancelsAtPeriodEnd: false,
    endedAtMs: null,
  };
  return {
    licenseId: licenseIdOf(subscriptionId),
    state,
    /** The anchors whose periods were paid: only their periods may hold credits. */
    paidAnchorsMs: [anchorMs],
    isMoved: false,
    snapshot(occurredAtMs: number, before?: Partial<SubscriptionState>): SubscriptionSnapshot {
      const change = before ? 'changed' : 'created';
      const facts = { ownerId, createdAtMs: anchorMs, state: { ...state }, before: before ?? {} };
      return { ...event(occurredAtMs), kind: 'subscription', change, ...facts };
    },
    payment(periodStartMs: number): InvoiceEvidence {
      const period = { periodStartMs, periodEndMs: monthAfter(periodStartMs), prorations: [] };
      return { ...event(periodStartMs), kind: 'paid', isFree: false, items: [], ...period };
    },
    apply: (evidence: BillingEvidence) =>
      applyBillingEvidence(evidence, { subscriptions: store, rules: { prices, pastDueGraceDays: 7 } }),
  };
}

export interface Tenant {
  license: License;
  /** Null for a license that the operator made. */
  subscription: Subscription | null;
  access: ReturnType<typeof createAccess>;
  /** Credits that were imported: those that an answer said, and those whose answer never came. */
  imported: { sure: number; unsure: number };
}

export interface Key {
  name: string;
  raw: string;
  stored: ApiKey;
  tenant: Tenant;
  access: ReturnType<typeof createAccess>;
}

/** Who is there when a simulation begins. */
export type Setup = ReturnType<typeof drawSetup>;

const anchorMs = Date.UTC(2026, 0, 31, 12);
const minuteMs = 60_000;

/** Half of the simulations begin shortly before their licenses' month ends. */
export function drawStart(random: Random): number {
  const { endMs } = billingPeriod(anchorMs, Date.UTC(2026, 1 + random.int(0, 10), 10));
  return endMs - (random.chance(0.5) ? random.int(1, 8) * minuteMs : random.int(3, 20) * 24 * 60 * minuteMs);
}

/** Often too little for all that a key asks for, sometimes less than one request costs. */
export const drawBudget = (random: Random): number => random.pick([random.int(1, 10), random.int(10, 60)]);

export function drawSetup({ seed, random, moment, profile, database }: Outside) {
  const stores = openStores(database.tableName);
  const subscriptions = subscriptionStore(openTable(database.tableName));
  const tenants = Array.from({ length: random.int(1, 2) }, (_, i): Tenant => {
    const license: License = {
      ...sampleLicense,
      licenseId: `lic_${i + 1}`,
      ownerId: `owner_${i + 1}`,
      tier: random.pick(['starter', 'standard', 'pro', 'pro', 'enterprise'] as const),
      creditsLimit: random.pick([random.int(4, 30), random.int(30, 100), 500]),
      periodAnchorMs: anchorMs,
      maxInFlight: random.pick([null, null, random.int(1, 4)]),
      createdAtMs: anchorMs,
    };
    // So little that packs are needed.
    if (profile.hasExtraCredits) license.creditsLimit = 1 + ((seed + i) % 8);
    const subscription = random.chance(0.4) ? createSubscription(i + 1, license, subscriptions) : null;
    if (subscription !== null) license.licenseId = subscription.licenseId;
    return { license, subscription, access: createAccess(moment), imported: { sure: 0, unsure: 0 } };
  });
  const budgets = seededRandom(seed + 0xb0d6e7);
  const weak = seededRandom(seed + 0x3eac);
  const keys = Array.from({ length: random.int(2, 4) }, (_, i): Key => {
    const tenant = random.pick(tenants);
    const raw = newApiKey();
    const { licenseId, ownerId } = tenant.license;
    const stored: ApiKey = {
      ...fingerprintApiKey(raw),
      keyPrefix: raw.slice(0, 13),
      name: `key-${i + 1}`,
      monthlyCredits: profile.hasBudgets && budgets.chance(0.7) ? drawBudget(budgets) : null,
      access: profile.hasWeakKeys && weak.chance(0.5) ? 'own' : 'license',
      maxInFlight: profile.hasWeakKeys && weak.chance(0.7) ? weak.int(1, 2) : null,
      licenseId,
      ownerId,
      createdAtMs: anchorMs,
      expiresAtMs: null,
      revokedAtMs: null,
    };
    return { name: stored.name, raw, stored, tenant, access: createAccess(moment) };
  });
  const identity = { ...sampleIdentity, productPhotos: true, lastVersion: 3 };
  return { tenants, keys, identity, identityAccess: createAccess(moment), stores };
}

/** Writes it all, with the service's own stores. */
export async function storeSetup({ tenants, keys, identity, stores }: Setup, startMs: number): Promise<void> {
  const versions = [1, 2, 3].map((number) => ({ ...activeVersion(identity)!, number }));
  await stores.identities.change(identity.identityId, () => ({ identity, versions }));
  for (const { license, subscription } of tenants) {
    if (subscription === null) await stores.licenses.insert(license);
    else {
      const period = billingPeriod(anchorMs, startMs);
      // No simulation lasts longer than the month after the present one.
      subscription.state.periodEndMs = monthAfter(period.endMs);
      await subscription.apply(subscription.snapshot(anchorMs));
      await subscription.apply(subscription.payment(period.startMs));
      await stores.licenses.update(license.licenseId, { maxInFlight: license.maxInFlight });
    }
  }
  for (const { stored } of keys) await stores.apiKeys.insert(stored);
}
