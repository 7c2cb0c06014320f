import { isDeepStrictEqual } from 'node:util';
import { creditsIn, countAfter, endOf, paidAfter } from './credit-count.ts';
import { lastStateOf } from './credit-history.ts';
import {
  BillingFailure,
  type BillingEvidence,
  type SubscriptionItem,
  type SubscriptionSnapshot,
} from './evidence.ts';
import type { BillingPrices, PriceGrant } from './prices.ts';
import { billingPeriod } from '../licenses/billing-period.ts';
import type { License } from '../licenses/license.ts';
import {
  activeUntilMs,
  graceUntilMs,
  isOver,
  lastSnapshot,
  mergeRegisters,
  registersOf,
  statusOf,
  type BillingRegisters,
} from './subscription.ts';
import { tiers, type TierName } from '../licenses/tiers.ts';

type Grant = Pick<License, 'tier' | 'creditsLimit' | 'foundingCatalog' | 'identityIds' | 'planName'>;

/** What the operator decides. */
export interface BillingRules {
  prices: BillingPrices;
  /** How long a license whose payment is due stays usable. */
  pastDueGraceDays: number;
}

/** A subscription has one license, whose id is made from its own. */
export function licenseIdOf(subscriptionId: string): string {
  return `lic_${subscriptionId}`;
}

/** A subscription as it is stored: what is remembered of its events, and its license if it has one. */
export interface StoredSubscription {
  registers: BillingRegisters;
  license: License | null;
}

/**
 * What an event changes.
 * @returns null when it changes nothing. Otherwise what to store; its license is null where no license is written. Of a
 * license that exists, only the members that billing sets are written.
 * @throws BillingFailure `owner_changed`, `unknown_price`
 */
export function applyEvidence(
  { registers, license }: StoredSubscription,
  evidence: BillingEvidence,
  rules: BillingRules,
): StoredSubscription | null {
  const isOthers = (ownerId: string | null) => ownerId !== null && ownerId !== license?.ownerId;
  if (license !== null && evidence.kind === 'subscription' && isOthers(evidence.ownerId)) {
    throw new BillingFailure(
      'owner_changed',
      "metadata.ownerId is not the owner of the subscription's license.",
    );
  }
  const endedByOperator = license?.status === 'ended' && !isOver(registers);
  const merged = mergeRegisters(registers, registersOf(evidence));
  const next = { ...merged, endedByOperator: merged.endedByOperator || endedByOperator };
  const isNews = !isDeepStrictEqual(next, registers);
  if (!isNews && license !== null) return null;
  const changed = next.endedByOperator ? null : licenseOf(next, rules, license?.ownerId);
  return isNews || changed !== null ? { registers: next, license: changed } : null;
}

/**
 * The license that follows from the registers; null before the first event of the subscription itself, and while nobody
 * owns it.
 * @param boundTo the owner of its license, who stays its owner whatever events say
 * @throws BillingFailure `unknown_price`
 */
export function licenseOf(
  registers: BillingRegisters,
  rules: BillingRules,
  boundTo = registers.owner?.ownerId,
): License | null {
  const last = lastSnapshot(registers);
  if (last === null || boundTo === undefined) return null;
  const { prices } = rules;
  return {
    licenseId: licenseIdOf(last.subscriptionId),
    ownerId: boundTo,
    givenName: null,
    ...grantOf(last.state.items, prices),
    apiAccess: true,
    ...creditsOf(registers, last, prices),
    status: statusOf(registers, last),
    graceUntilMs: graceUntilMs(registers, last, rules.pastDueGraceDays),
    suspended: null,
    periodAnchorMs: last.state.anchorMs,
    activeUntilMs: activeUntilMs(registers, last),
    extraUntilMs: null,
    maxInFlight: null,
    moderation: null,
    createdAtMs: last.createdAtMs,
  };
}

/** What a month has after the count in force, and that count where it is not the anchor's own month with just that. */
function creditsOf(
  { moments }: BillingRegisters,
  last: SubscriptionSnapshot,
  prices: BillingPrices,
): Pick<License, 'creditsLimit' | 'carried'> {
  const items = (list: SubscriptionItem[]) => grantOf(list, prices).creditsLimit;
  const price = (priceId: string) => creditsOfUnit(priceOf(priceId, prices)) ?? 0;
  const count = countAfter(moments, lastStateOf(last));
  const creditsLimit = Math.min(...paidAfter(count).map(items));
  const carried = {
    startMs: count.startMs,
    endMs: endOf(count),
    creditsLimit: creditsIn(count, { items, price }),
  };
  const plain = { ...billingPeriod(last.state.anchorMs, count.startMs), creditsLimit };
  return { creditsLimit, carried: isDeepStrictEqual(carried, plain) ? null : carried };
}

/** From the smallest to the largest. */
const tierNames = Object.keys(tiers) as TierName[];

/**
 * What the items of a subscription grant together. Without a core plan the tier is Starter, with Starter's credits
 * unless a price names some.
 * @throws BillingFailure `unknown_price`
 */
export function grantOf(items: SubscriptionItem[], prices: BillingPrices): Grant {
  const granted = items
    .map(({ priceId, quantity }) => ({ quantity, price: priceOf(priceId, prices) }))
    .filter(({ quantity }) => quantity > 0);
  const highest = Math.max(0, ...granted.map(({ price }) => rankOf(price)));
  const credits = granted.flatMap(({ quantity, price }) => {
    const each = creditsOfUnit(price);
    return each === null ? [] : each * quantity;
  });
  const namesNone = granted.length > 0 && credits.length === 0;
  return {
    tier: tierNames[highest]!,
    creditsLimit: namesNone ? tiers.starter.creditsPerMonth : credits.reduce((sum, each) => sum + each, 0),
    foundingCatalog: granted.some(({ price }) => price.foundingCatalog === true),
    identityIds: [...new Set(granted.flatMap(({ price }) => price.identityIds ?? []))].sort(),
    planName: planName(granted.map(({ price }) => price)),
  };
}

/** Of the core plan with the highest tier; without a core plan, of the first addition that has a name. */
function planName(granted: PriceGrant[]): string | null {
  const highest = Math.max(...granted.map(rankOf));
  const named = granted.filter((price) => rankOf(price) === highest);
  return named.find(({ name }) => name !== undefined)?.name ?? null;
}

/** The place of its tier among all, from the smallest on; -1 where it is of no tier. */
function rankOf({ tier }: PriceGrant): number {
  return tierNames.findIndex((name) => name === tier);
}

/** One unit's credits for a month; null when neither the price nor its tier names any. */
function creditsOfUnit({ tier, creditsPerMonth }: PriceGrant): number | null {
  return creditsPerMonth ?? (tier ? tiers[tier].creditsPerMonth : null);
}

function priceOf(priceId: string, prices: BillingPrices): PriceGrant {
  const grant = Object.hasOwn(prices, priceId) ? prices[priceId] : undefined;
  if (grant !== undefined) return grant;
  throw new BillingFailure(
    'unknown_price',
    `The billing prices have no entry for ${JSON.stringify(priceId)}.`,
  );
}
