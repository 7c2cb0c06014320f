import { describe, expect, test } from '@jest/globals';
import type { SubscriptionSnapshot } from '../../../shared/billing/evidence.ts';
import { parseRawEvent } from '../../../shared/billing/event.ts';
import { isId } from '../../../shared/base/ids.ts';
import { licenseIdOf } from '../../../shared/billing/subscription-license.ts';
import { evidenceOf, older } from './delivery.ts';
import { day, item, itemList, ownerId, start, stripeEvent, subscription } from './stripe-fixtures.ts';
import { invoice, parentOf } from './stripe-invoices.ts';

const ms = (at: number) => at * 1000;
const end = start + 30 * day;
const updated = (changes: Parameters<typeof subscription>[0] = {}, options = {}) =>
  stripeEvent('customer.subscription.updated', subscription(changes), options);
const failureOf = (event: object) => {
  try {
    return { evidence: evidenceOf(event) };
  } catch (error) {
    return error;
  }
};

describe('a subscription', () => {
  const event = stripeEvent(
    'customer.subscription.updated',
    subscription({
      status: 'past_due',
      billing_cycle_anchor: start + 5,
      cancel_at: end,
      cancel_at_period_end: true,
      items: itemList([
        item('price_pro', end, 2),
        item('price_pro', end, 1),
        item('price_id', end),
        item('price_add', end + 9, 0),
      ]),
    }),
    {
      id: 'evt_1',
      created: start + 60,
      previous: {
        status: 'active',
        cancel_at: null,
        cancel_at_period_end: false,
        items: itemList([item('price_pro', start, 1)]),
      },
    },
  );
  const expected: SubscriptionSnapshot = {
    kind: 'subscription',
    change: 'changed',
    eventId: 'evt_1',
    occurredAtMs: ms(start + 60),
    subscriptionId: 'sub_1SAda',
    ownerId,
    createdAtMs: ms(start),
    state: {
      status: 'past_due',
      items: [
        { priceId: 'price_add', quantity: 0 },
        { priceId: 'price_id', quantity: 1 },
        { priceId: 'price_pro', quantity: 1 },
        { priceId: 'price_pro', quantity: 2 },
      ],
      periodEndMs: ms(end + 9),
      anchorMs: ms(start + 5),
      cancelAtMs: ms(end),
      cancelsAtPeriodEnd: true,
      endedAtMs: null,
    },
    before: {
      status: 'active',
      items: [{ priceId: 'price_pro', quantity: 1 }],
      periodEndMs: ms(start),
      cancelAtMs: null,
      cancelsAtPeriodEnd: false,
    },
  };

  test('is read with all that decides a license, and with what it was before', () => {
    expect(evidenceOf(event)).toEqual(expected);
  });

  test('of an older API version is read to the same', () => {
    const old = older(event);
    expect(old.data.object.items.data[0]).not.toHaveProperty('current_period_end');
    expect(evidenceOf(old)).toEqual(expected);
  });

  test('that has ended tells when', () => {
    const over = subscription({ status: 'canceled', ended_at: start + 7, canceled_at: start + 3 });
    expect(evidenceOf(stripeEvent('customer.subscription.deleted', over))).toMatchObject({
      change: 'deleted',
      state: { status: 'canceled', endedAtMs: ms(start + 7) },
      before: {},
    });
  });

  test.each([
    ['customer.subscription.created', 'created'],
    ['customer.subscription.updated', 'changed'],
    ['customer.subscription.paused', 'changed'],
    ['customer.subscription.resumed', 'changed'],
    ['customer.subscription.deleted', 'deleted'],
  ] as const)('in an event %s is %s', (type, change) => {
    expect(evidenceOf(stripeEvent(type, subscription()))).toMatchObject({ kind: 'subscription', change });
  });

  test('has a license whose id is its own, made an id of the service', () => {
    const longest = `sub_${'a'.repeat(56)}`;
    expect(licenseIdOf('sub_1SAda')).toBe('lic_sub_1SAda');
    expect(evidenceOf(updated({ id: longest }))).toMatchObject({ subscriptionId: longest });
    expect(isId(licenseIdOf(longest))).toBe(true);
  });

  test('whose earlier state can’t be read is read without it: it only breaks ties', () => {
    const odd = { ...updated({}, { previous: { status: 'active' } }) } as any;
    odd.data = { ...odd.data, previous_attributes: { status: 'active', items: 'many' } };
    expect(evidenceOf(odd)).toMatchObject({ state: { status: 'active' }, before: {} });
  });

  test('is cancelled at its period’s end only where it says so', () => {
    expect(evidenceOf(updated({ cancel_at_period_end: null as never }))).toMatchObject({
      state: { cancelsAtPeriodEnd: false },
    });
    expect(evidenceOf(updated({}, { previous: { cancel_at_period_end: true } }))).toMatchObject({
      state: { cancelsAtPeriodEnd: false },
      before: { cancelsAtPeriodEnd: true },
    });
  });

  test.each([
    ['metadata of null', { metadata: null as never }],
    ['an empty one', { metadata: { ownerId: '' } }],
    ['one that is no id', { metadata: { ownerId: 'a#b' } }],
    ['one that is too long', { metadata: { ownerId: 'a'.repeat(65) } }],
  ])('without an owner (%s) is a failure that says what is missing', (_, changes) => {
    expect(failureOf(updated(changes))).toMatchObject({
      reason: 'owner_missing',
      message: "The subscription's metadata.ownerId is not the id of an account.",
    });
  });
});

describe('an event', () => {
  test.each(['customer.created', 'invoice.created', 'customer.subscription.trial_will_end', 'price.updated'])(
    'of another type, %s, says nothing, whatever its object',
    (type) => {
      for (const object of [{}, null, 'x', subscription()]) {
        expect(
          evidenceOf({ id: 'evt_1', type, created: start, livemode: true, data: { object } }),
        ).toBeNull();
      }
    },
  );

  const event = updated();
  const withObject = (object: unknown) => ({ ...event, data: { object } });
  const { items, ...withoutItems } = subscription();
  const { billing_cycle_anchor: anchor, ...withoutAnchor } = subscription();
  const { items: newItems, ...oldShape } = older(event).data.object;
  delete oldShape.current_period_end;
  expect([items, anchor, newItems].every(Boolean)).toBe(true);

  test.each([
    ['null', withObject(null)],
    ['no items', withObject(withoutItems)],
    ['no anchor', withObject(withoutAnchor)],
    ['a status that nobody knows', updated({ status: 'sleeping' })],
    ['an id that makes no license', updated({ id: `sub_${'a'.repeat(57)}` })],
    ['an id that reaches for another key', updated({ id: 'sub_1#KEYS' })],
    ['an id that begins elsewhere', updated({ id: 'x_sub_1' })],
    ['a time with a fraction', updated({ billing_cycle_anchor: 1.5 })],
    ['a time before 1970', updated({ billing_cycle_anchor: -1 })],
    ['a time after 9999', updated({ cancel_at: 253_402_300_800 })],
    ['an item without a price', updated({ items: itemList([{ ...item('p', end), price: null as never }]) })],
    ['a fraction of a unit', updated({ items: itemList([item('price_pro', end, 0.5)]) })],
    ['fewer units than none', updated({ items: itemList([item('price_pro', end, -1)]) })],
    ['more units than are safe to count', updated({ items: itemList([item('price_pro', end, 100_001)]) })],
    ['an invoice without lines', stripeEvent('invoice.paid', { id: 'in_1' } as never)],
    [
      'an invoice of an odd subscription',
      stripeEvent('invoice.paid', invoice({ parent: parentOf('sub_1#x') })),
    ],
    ['a time of its own that is odd', { ...event, created: 'now' }],
    ['an id that is none', { ...event, id: 'evt_1 ' }],
    ['a type that begins oddly', { ...event, type: `-${event.type}` }],
    ['a type that ends oddly', { ...event, type: `${event.type}\n` }],
    ['no data', { ...event, data: undefined }],
  ])('of a type that is read, with %s, is a failure and never ignored', (_, hostile) => {
    expect(failureOf(hostile)).toMatchObject({ reason: 'unreadable' });
  });

  test.each(['{', 'null', '{"detail":null}', '{"detail":[]}'])(
    'in a message that reads %j is a failure',
    (body) => {
      expect(() => parseRawEvent(body)).toThrow(expect.objectContaining({ reason: 'unreadable' }));
    },
  );

  test('of a subscription without a period says so', () => {
    expect(failureOf(withObject({ ...oldShape, items: newItems }))).toMatchObject({
      message: expect.stringContaining('has no current_period_end'),
    });
  });

  test('that fails says which member is wrong and never what stood there', () => {
    const secret = 'ada@example.com';
    const bad = updated({ status: secret, billing_cycle_anchor: secret as never });
    const { message } = failureOf(bad) as Error;
    expect(message).toContain('status');
    expect(message).toContain('billing_cycle_anchor');
    expect(message).not.toContain(secret);
    expect(() => parseRawEvent(`{"detail": "${secret}`)).toThrow('The message is not JSON.');
  });
});
