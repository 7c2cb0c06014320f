import { expect } from '@jest/globals';
import type Stripe from 'stripe';
import type { BillingPrices } from '../../../shared/billing/prices.ts';
import type { License } from '../../../shared/licenses/license.ts';
import { mergeRegisters, noRegisters, registersOf } from '../../../shared/billing/subscription.ts';
import { licenseOf, type BillingRules } from '../../../shared/billing/subscription-license.ts';
import { evidenceOf } from './delivery.ts';
import {
  day,
  item,
  itemList,
  start,
  stripeEvent,
  subscription,
  type HandledEvent,
} from './stripe-fixtures.ts';
import { invoice, line, linesOf } from './stripe-invoices.ts';

const prices: BillingPrices = {
  price_pro: { tier: 'pro', foundingCatalog: true, name: 'Studio' },
  price_starter: { tier: 'starter' },
};
export const rules: BillingRules = { prices, pastDueGraceDays: 7 };
export const ms = (at: number) => at * 1000;
export const end = start + 30 * day;
export const t = start + 10;

/** The license after these events, in both directions of arrival. */
export function licenseAfter(...events: HandledEvent[]): License | null {
  const evidence = events.map((event) => evidenceOf(event)!);
  const merge = (list: typeof evidence) => list.map(registersOf).reduce(mergeRegisters, noRegisters);
  const license = licenseOf(merge(evidence), rules);
  expect(licenseOf(merge(evidence.toReversed()), rules)).toEqual(license);
  return license;
}

type Changes = Partial<Stripe.Subscription>;
export const created = (at: number, changes: Changes = {}) =>
  stripeEvent('customer.subscription.created', subscription(changes), { created: at });
export const updated = (at: number, changes: Changes = {}, previous?: Changes, id?: string) =>
  stripeEvent('customer.subscription.updated', subscription(changes), {
    created: at,
    ...(previous === undefined ? {} : { previous }),
    ...(id === undefined ? {} : { id }),
  });
export const deleted = (at: number, changes: Changes = {}) =>
  stripeEvent('customer.subscription.deleted', subscription({ status: 'canceled', ...changes }), {
    created: at,
  });
const bill = (until: number) => invoice({ lines: linesOf(line(until)) });
export const paid = (at: number, until = end) => stripeEvent('invoice.paid', bill(until), { created: at });
export const failed = (at: number, until = end) =>
  stripeEvent('invoice.payment_failed', bill(until), { created: at });
export const items = (priceId: string, periodEnd = end) => itemList([item(priceId, periodEnd, 1)]);
