import type { Stores } from '../../../bin/common/stores.ts';
import type {
  BillingEvidence,
  InvoiceEvidence,
  SubscriptionSnapshot,
  SubscriptionState,
} from '../../../shared/billing/evidence.ts';
import { licenseIdOf } from '../../../shared/billing/subscription-license.ts';
import { fingerprintApiKey, newApiKey } from '../../../shared/keys/api-key.ts';
import { billingPeriod, monthAfter } from '../../../shared/licenses/billing-period.ts';
import type { Identity } from '../../../shared/identities/identity.ts';
import type { License } from '../../../shared/licenses/license.ts';
import type { ApiKey } from '../../../shared/keys/store.ts';
import type { SubscriptionStore } from '../../../shared/billing/subscription-store.ts';
import { applyBillingEvidence } from '../../../shared/billing/apply-event.ts';
import type { Random } from './random.ts';

/** A switch on or off. Between the asking and the answer nobody can know which of the two holds. */
interface Change {
  isOpen: boolean;
  asked: number;
  answered: number;
}

export type Timeline = ReturnType<typeof createTimeline>;

/** Follows whether a key, a license or an identity's model may be used. To begin with it may. */
export function createTimeline(moment: () => number) {
  const changes: Change[] = [];
  return {
    isOpen: () => changes.at(-1)?.isOpen ?? true,
    async change(isOpen: boolean, by: () => Promise<unknown>): Promise<void> {
      const change = { isOpen, asked: moment(), answered: Infinity };
      changes.push(change);
      await by();
      change.answered = moment();
    },
    /** What somebody may have found it to be between two moments. */
    possible(from: number, to: number): boolean[] {
      let certain = true;
      const maybe: boolean[] = [];
      for (const { isOpen, asked, answered } of changes) {
        if (answered <= from) {
          certain = isOpen;
          maybe.length = 0;
        } else if (asked <= to) maybe.push(isOpen);
      }
      return [certain, ...maybe];
    },
  };
}

/** What Stripe knows of a tenant. */
export interface Subscription {
  subscriptionId: string;
  createdAtMs: number;
  state: SubscriptionState;
  /** The anchors whose periods were paid: only their periods may hold credits. */
  paidAnchorsMs: number[];
  isMoved: boolean;
  /** What its price grants. */
  grant: Pick<License, 'tier' | 'creditsLimit'>;
  events: number;
}

function newSubscription(number: number, anchorMs: number, license: License): Subscription {
  const { tier, creditsLimit } = license;
  return {
    subscriptionId: `sub_${number}`,
    createdAtMs: anchorMs,
    state: {
      status: 'active',
      items: [{ priceId: 'price_1', quantity: 1 }],
      periodEndMs: monthAfter(anchorMs),
      anchorMs,
      cancelAtMs: null,
      cancelsAtPeriodEnd: false,
      endedAtMs: null,
    },
    paidAnchorsMs: [anchorMs],
    isMoved: false,
    grant: { tier, creditsLimit },
    events: 0,
  };
}

const licenseOf = ({ subscriptionId }: Subscription) => licenseIdOf(subscriptionId);

function nextEvent(subscription: Subscription, occurredAtMs: number) {
  subscription.events += 1;
  const eventId = `evt_${subscription.events}`;
  return { eventId, occurredAtMs, subscriptionId: subscription.subscriptionId };
}

export function snapshot(
  subscription: Subscription,
  ownerId: string,
  occurredAtMs: number,
  before?: Partial<SubscriptionState>,
): SubscriptionSnapshot {
  return {
    ...nextEvent(subscription, occurredAtMs),
    kind: 'subscription',
    change: before ? 'changed' : 'created',
    ownerId,
    createdAtMs: subscription.createdAtMs,
    state: subscription.state,
    before: before ?? {},
  };
}

export function payment(subscription: Subscription, periodStartMs: number): InvoiceEvidence {
  return {
    ...nextEvent(subscription, periodStartMs),
    kind: 'paid',
    periodStartMs,
    isFree: false,
    periodEndMs: monthAfter(periodStartMs),
    prorations: [],
  };
}

/** Makes the license of a subscription whose present period is paid. */
async function beginSubscription(
  subscriptions: SubscriptionStore,
  subscription: Subscription,
  { ownerId }: License,
  nowMs: number,
): Promise<void> {
  const { anchorMs } = subscription.state;
  const { startMs, endMs } = billingPeriod(anchorMs, nowMs);
  // No world lasts longer than the month after the present one.
  subscription.state.periodEndMs = monthAfter(endMs);
  await apply(subscriptions, subscription, snapshot(subscription, ownerId, anchorMs));
  await apply(subscriptions, subscription, payment(subscription, startMs));
}

export function apply(
  subscriptions: SubscriptionStore,
  { grant: { tier, creditsLimit } }: Subscription,
  evidence: BillingEvidence,
) {
  const prices = { price_1: { tier, creditsPerMonth: creditsLimit, foundingCatalog: true } };
  return applyBillingEvidence(evidence, { subscriptions, rules: { prices, pastDueGraceDays: 7 } });
}

export interface Tenant {
  license: License;
  /** Null for a license that the operator made. */
  subscription: Subscription | null;
  access: Timeline;
  /** Credits that were imported: those that an answer said, and those whose answer never came. */
  imported: { sure: number; unsure: number };
}

export interface Key {
  name: string;
  raw: string;
  stored: ApiKey;
  tenant: Tenant;
  access: Timeline;
}

/** Who is there when a seed's world begins. */
export interface Setup {
  startMs: number;
  tenants: Tenant[];
  keys: Key[];
  identity: Identity;
  /** Whether the identity has an active model. */
  identityAccess: Timeline;
  stores: Stores;
  subscriptions: SubscriptionStore;
}

const anchorMs = Date.UTC(2026, 0, 31, 12);
const minuteMs = 60_000;

/** Half of the worlds begin shortly before their licenses' month ends. */
export function drawStart(random: Random): number {
  const { endMs } = billingPeriod(anchorMs, Date.UTC(2026, 1 + random.int(0, 10), 10));
  return endMs - (random.chance(0.5) ? random.int(1, 8) * minuteMs : random.int(3, 20) * 24 * 60 * minuteMs);
}

export function drawSetup(
  random: Random,
  startMs: number,
  { stores, subscriptions }: Pick<Setup, 'stores' | 'subscriptions'>,
  moment: () => number,
): Setup {
  const timeline = () => createTimeline(moment);
  const tenants = Array.from({ length: random.int(1, 2) }, (_, i): Tenant => {
    const license: License = {
      licenseId: `lic_${i + 1}`,
      ownerId: `owner_${i + 1}`,
      givenName: null,
      planName: null,
      tier: random.pick(['starter', 'standard', 'pro', 'pro', 'enterprise'] as const),
      creditsLimit: random.pick([random.int(4, 30), random.int(30, 100), 500]),
      foundingCatalog: true,
      identityIds: [],
      apiAccess: true,
      status: 'active',
      graceUntilMs: null,
      periodAnchorMs: anchorMs,
      carried: null,
      activeUntilMs: null,
      maxInFlight: random.pick([null, null, random.int(1, 4)]),
      createdAtMs: anchorMs,
    };
    const subscription = random.chance(0.4) ? newSubscription(i + 1, anchorMs, license) : null;
    if (subscription !== null) license.licenseId = licenseOf(subscription);
    return { license, subscription, access: timeline(), imported: { sure: 0, unsure: 0 } };
  });
  const keys = Array.from({ length: random.int(2, 4) }, (_, i): Key => {
    const tenant = random.pick(tenants);
    const raw = newApiKey();
    const { licenseId, ownerId } = tenant.license;
    const stored: ApiKey = {
      ...fingerprintApiKey(raw),
      keyPrefix: raw.slice(0, 13),
      name: `key-${i + 1}`,
      monthlyCredits: null,
      licenseId,
      ownerId,
      createdAtMs: anchorMs,
      expiresAtMs: null,
      revokedAtMs: null,
    };
    return { name: stored.name, raw, stored, tenant, access: timeline() };
  });
  const identity: Identity = {
    identityId: 'idn_1',
    name: 'One',
    slug: 'one',
    description: '',
    catalog: 'founding',
    productPhotos: true,
    samples: [],
    model: { version: '1', adapterKey: null, adapterSha256: null, settings: {} },
  };
  return { startMs, tenants, keys, identity, identityAccess: timeline(), stores, subscriptions };
}

/** Writes it all, with the service's own stores. */
export async function storeSetup(setup: Setup): Promise<void> {
  const { tenants, keys, identity, stores, subscriptions, startMs } = setup;
  await stores.identities.put(identity);
  for (const { license, subscription } of tenants) {
    if (subscription === null) await stores.licenses.insert(license);
    else {
      await beginSubscription(subscriptions, subscription, license, startMs);
      await stores.licenses.update(license.licenseId, { maxInFlight: license.maxInFlight });
    }
  }
  for (const { stored } of keys) await stores.apiKeys.insert(stored);
}
