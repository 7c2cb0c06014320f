import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import {
  subscriptionStatuses,
  type BillingEvidence,
  type CheckoutEvidence,
  type InvoiceEvidence,
  type SubscriptionSnapshot,
  type SubscriptionState,
} from '../../../shared/billing/evidence.ts';
import type { BillingPrices } from '../../../shared/billing/prices.ts';
import type { License } from '../../../shared/licenses/license.ts';
import { mergeRegisters, noRegisters, registersOf } from '../../../shared/billing/subscription.ts';
import {
  applyEvidence,
  licenseOf,
  type StoredSubscription,
} from '../../../shared/billing/subscription-license.ts';
import { runs } from '../../support/runs.ts';

const prices: BillingPrices = {
  price_1: { tier: 'starter' },
  price_2: { tier: 'pro', foundingCatalog: true, name: 'Studio' },
  price_3: { identityIds: ['idn_a'], name: 'Atelier' },
};
const rules = { prices, pastDueGraceDays: 7 };
const numRuns = runs(100);

/** Small ranges, so that much happens in the same second and periods meet. */
const second = fc.integer({ min: 1, max: 6 }).map((n) => n * 1000);
const instant = fc.integer({ min: 1, max: 20 }).map((n) => n * 1000);
const living = subscriptionStatuses.filter((status) => !['canceled', 'incomplete_expired'].includes(status));
const stateWith = (statuses: typeof living): fc.Arbitrary<SubscriptionState> =>
  fc.record({
    status: fc.constantFrom(...statuses),
    items: fc.constantFrom('price_1', 'price_2', 'price_3').map((priceId) => [{ priceId, quantity: 1 }]),
    periodEndMs: instant,
    anchorMs: instant,
    cancelAtMs: fc.option(instant, { freq: 3 }),
    cancelsAtPeriodEnd: fc.boolean(),
    endedAtMs: fc.constant(null),
  });
const anyState = stateWith([...subscriptionStatuses]);
const origin = { subscriptionId: 'sub_1', ownerId: 'owner', createdAtMs: 0 };

const anySnapshot = fc
  .record({
    change: fc.constantFrom('created', 'changed', 'changed', 'changed', 'deleted'),
    occurredAtMs: second,
    state: anyState,
    before: fc.record({ status: fc.constantFrom(...living), anchorMs: instant }, { requiredKeys: [] }),
  })
  .map((shown) => ({ ...origin, kind: 'subscription' as const, ...shown })) as fc.Arbitrary<
  Omit<SubscriptionSnapshot, 'eventId'>
>;
const anyInvoice: fc.Arbitrary<Omit<InvoiceEvidence, 'eventId'>> = fc.record({
  kind: fc.constantFrom('paid', 'failed'),
  occurredAtMs: second,
  subscriptionId: fc.constant('sub_1'),
  periodStartMs: fc.option(second, { freq: 3 }),
  isFree: fc.boolean(),
  items: fc.constantFrom([], [{ priceId: 'price_1', quantity: 1 }], [{ priceId: 'price_2', quantity: 2 }]),
  periodEndMs: fc.oneof(fc.constant(0), instant),
  prorations: fc.array(
    fc.record({
      priceId: fc.constantFrom('price_1', 'price_2', null),
      quantity: fc.constantFrom(-1, 1, 2),
      startMs: second,
      endMs: instant,
    }),
    { maxLength: 2 },
  ),
});

/** Adds ids whose order is not the order of time. */
const withIds = (list: Omit<BillingEvidence, 'eventId'>[], seed: number) =>
  list.map((one, i) => ({ ...one, eventId: `evt_${(i * 7919 + seed) % 1009}_${i}` })) as BillingEvidence[];

/** Any events, also those that no real subscription could have. */
const anyEvents = fc
  .tuple(
    fc.array(fc.oneof({ weight: 3, arbitrary: anySnapshot }, anyInvoice), { minLength: 1, maxLength: 9 }),
    fc.nat({ max: 1000 }),
  )
  .map(([list, seed]) => withIds(list as Omit<BillingEvidence, 'eventId'>[], seed));

const anyOwner = fc.constantFrom('owner', 'another');
const anyCheckout: fc.Arbitrary<Omit<CheckoutEvidence, 'eventId'>> = fc.record({
  kind: fc.constant('checkout'),
  occurredAtMs: second,
  subscriptionId: fc.constant('sub_1'),
  ownerId: anyOwner,
});
/** Of a subscription whose metadata name nobody, until the operator may. */
const anyUnowned = fc
  .tuple(
    fc.array(fc.oneof(anySnapshot, anyInvoice), { minLength: 1, maxLength: 7 }),
    fc.array(anyCheckout, { maxLength: 3 }),
    fc.nat({ max: 1000 }),
  )
  .map(([list, checkouts, seed]) =>
    withIds(
      [...list.map((one) => ('change' in one ? { ...one, ownerId: null } : one)), ...checkouts] as never,
      seed,
    ),
  );

/** One step of a life: after so many seconds the subscription changed, or an invoice was paid or not. */
const step = fc.record({
  waitMs: fc.constantFrom(0, 0, 0, 1000, 2000),
  what: fc.constantFrom('change', 'change', 'change', 'paid', 'failed'),
  state: stateWith(living),
});
/** A life as Stripe shows it: created, each change with what was before, perhaps ended. The last state is the truth. */
const anyLife = fc
  .tuple(stateWith(living), fc.array(step, { maxLength: 8 }), fc.boolean(), fc.nat({ max: 1000 }))
  .map(([first, steps, ends, seed]) => {
    let [nowMs, state] = [1000, first];
    const snapshot = (change: SubscriptionSnapshot['change'], before: Partial<SubscriptionState>) => ({
      ...origin,
      kind: 'subscription' as const,
      change,
      occurredAtMs: nowMs,
      state,
      before,
    });
    const list: Omit<BillingEvidence, 'eventId'>[] = [snapshot('created', {})];
    steps.forEach(({ waitMs, what, state: next }, i) => {
      nowMs += waitMs;
      if (what === 'change') {
        const before = state;
        // The anchor is new each time, so that no two changes of a second undo each other.
        state = { ...next, anchorMs: 100_000 + i };
        list.push(snapshot('changed', changedMembers(before, state)));
      } else {
        const invoice = {
          kind: what,
          occurredAtMs: nowMs,
          subscriptionId: 'sub_1',
          periodStartMs: nowMs,
          isFree: false,
          items: [],
          periodEndMs: nowMs + 1000,
          prorations: [],
        };
        list.push(invoice as Omit<InvoiceEvidence, 'eventId'>);
      }
    });
    if (ends) {
      state = { ...state, status: 'canceled', endedAtMs: nowMs };
      list.push(snapshot('deleted', {}));
    }
    return { events: withIds(list, seed), truth: state };
  });

function changedMembers(before: SubscriptionState, after: SubscriptionState): Partial<SubscriptionState> {
  const members = Object.entries(before) as [keyof SubscriptionState, unknown][];
  return Object.fromEntries(
    members.filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(after[name])),
  );
}

/** The order of deliveries: each has a number to sort by. Those beyond the events are repetitions. */
const anyDelivery = fc.array(fc.nat({ max: 1000 }), { minLength: 24, maxLength: 24 });

/** Every event at least once, some again, in any order. */
function delivered(events: BillingEvidence[], delivery: number[]): BillingEvidence[] {
  const repetitions = delivery.slice(20).map((n) => events[n % events.length]!);
  return [...events, ...repetitions]
    .map((event, i) => ({ event: structuredClone(event), at: delivery[i]! }))
    .sort((a, b) => a.at - b.at)
    .map(({ event }) => event);
}

/** Delivers one after the other, as the store would keep it. */
function deliver(events: BillingEvidence[], from?: StoredSubscription): StoredSubscription {
  let stored: StoredSubscription = from ?? { registers: noRegisters, license: null };
  for (const evidence of events) {
    const next = applyEvidence(stored, evidence, rules);
    if (next === null) continue;
    const { ownerId, givenName, createdAtMs, apiAccess } = stored.license ?? next.license ?? ({} as License);
    const license = next.license && { ...next.license, ownerId, givenName, createdAtMs, apiAccess };
    stored = { registers: next.registers, license: license ?? stored.license };
  }
  return stored;
}

describe('the same events in any order and with any repetition', () => {
  test('end in the same license, whatever they say', () => {
    fc.assert(
      fc.property(anyEvents, anyDelivery, (events, delivery) => {
        expect(deliver(delivered(events, delivery))).toEqual(deliver(events));
      }),
      { numRuns },
    );
  });

  test('leave an unowned subscription to one and the same account, or to none, where a license waits for it', () => {
    fc.assert(
      fc.property(anyUnowned, anyDelivery, (events, delivery) => {
        const { registers } = deliver(delivered(events, delivery));
        expect(registers).toEqual(deliver(events).registers);
        const checkouts = events.filter(({ kind }) => kind === 'checkout');
        const isThere = events.some(({ kind }) => kind === 'subscription') && checkouts.length > 0;
        expect(licenseOf(registers, rules) !== null).toBe(isThere);
      }),
      { numRuns },
    );
  });

  test('leave a bound one to whom it was bound first', () => {
    fc.assert(
      fc.property(anyUnowned, anyDelivery, (events, delivery) => {
        const all = delivered(events, delivery);
        const first = all.findIndex((_, i) => deliver(all.slice(0, i + 1)).license !== null);
        fc.pre(first >= 0);
        const bound = deliver(all.slice(0, first + 1));
        expect(deliver(all.slice(first + 1), bound).license!.ownerId).toBe(bound.license!.ownerId);
      }),
      { numRuns },
    );
  });

  test('of a life end in what the subscription last was', () => {
    fc.assert(
      fc.property(anyLife, anyDelivery, ({ events, truth }, delivery) => {
        const { license, registers } = deliver(delivered(events, delivery));
        expect({ license, registers }).toEqual(deliver(events));
        expect(license).toEqual(licenseOf(registers, rules));
        expect(license!.periodAnchorMs).toBe(truth.anchorMs);
        const { priceId } = truth.items[0]!;
        expect(license!.tier).toBe(priceId === 'price_2' ? 'pro' : 'starter');
        expect(license!.planName).toBe(prices[priceId]!.name ?? null);
        expect(license!.status === 'ended').toBe(truth.status === 'canceled');
        if (truth.status === 'canceled') expect(license!.activeUntilMs).toBe(truth.endedAtMs);
      }),
      { numRuns },
    );
  });

  test('leave a license that the operator ended among them as it was then', () => {
    fc.assert(
      fc.property(anyLife, anyDelivery, fc.nat({ max: 20 }), ({ events }, delivery, at) => {
        const all = delivered(events, delivery);
        const before = deliver(all.slice(0, at));
        fc.pre(before.license !== null && before.license.status !== 'ended');
        const ended: License = { ...before.license!, status: 'ended', activeUntilMs: 7 };
        expect(deliver(all.slice(at), { ...before, license: ended }).license).toEqual(ended);
      }),
      { numRuns },
    );
  });

  test('are told apart by their ids where they are of one second: of two payments the later id is the newer', () => {
    const paid = (eventId: string): InvoiceEvidence => ({
      kind: 'paid',
      eventId,
      occurredAtMs: 1000,
      subscriptionId: 'sub_1',
      periodStartMs: 1000,
      isFree: false,
      items: [],
      periodEndMs: 2000,
      prorations: [],
    });
    const [one, two] = [registersOf(paid('evt_1')), registersOf(paid('evt_2'))];
    for (const both of [mergeRegisters(one, two), mergeRegisters(two, one)]) {
      expect(both.paid?.eventId).toBe('evt_2');
      expect(both.moments.map(({ eventId }) => eventId)).toEqual(['evt_1', 'evt_2']);
    }
  });
});
