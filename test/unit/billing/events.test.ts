import { describe, expect, test } from '@jest/globals';
import type { InvoiceEvidence, SubscriptionSnapshot } from '../../../shared/billing/evidence.ts';
import { parseRawEvent } from '../../../shared/billing/event.ts';
import { isId } from '../../../shared/base/ids.ts';
import { licenseIdOf } from '../../../shared/billing/subscription-license.ts';
import { evidenceOf, older } from './delivery.ts';
import {
  day,
  end,
  eventsOf,
  extraLine,
  invoice,
  item,
  itemList,
  items,
  line,
  linesOf,
  ms,
  ownerId,
  parentOf,
  pricing,
  start,
  stripeEvent,
  subscription,
  type Changes,
} from './stripe-fixtures.ts';

const updated = (changes: Changes = {}, previous?: Changes) =>
  eventsOf('sub_1SAda').updated(start, changes, previous);
const failureOf = (event: object) => {
  try {
    return { evidence: evidenceOf(event) };
  } catch (error) {
    return error;
  }
};

describe('a subscription', () => {
  const state = {
    status: 'past_due',
    billing_cycle_anchor: start + 5,
    cancel_at: end,
    cancel_at_period_end: true,
    items: itemList([
      item('price_id', end),
      item('price_pro', end, 2),
      item('price_pro', end, 1),
      item('price_add', end + 9, 0),
    ]),
  } as const;
  const previous = {
    status: 'active',
    cancel_at: null,
    cancel_at_period_end: false,
    items: items('price_pro', start),
  } as const;
  const event = stripeEvent('customer.subscription.updated', subscription(state), {
    id: 'evt_1',
    created: start + 60,
    previous,
  });
  const expected: SubscriptionSnapshot = {
    kind: 'subscription',
    change: 'changed',
    eventId: 'evt_1',
    occurredAtMs: ms(start + 60),
    subscriptionId: 'sub_1SAda',
    ownerId,
    customerId: 'cus_ada',
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

  test('is read with all that decides a license and what it was before, in both shapes of the API', () => {
    expect(evidenceOf(event)).toEqual(expected);
    const old = older(event);
    expect(old.data.object.items.data[0]).not.toHaveProperty('current_period_end');
    expect(evidenceOf(old)).toEqual(expected);
  });

  test.each([
    ['customer.subscription.created', 'created'],
    ['customer.subscription.updated', 'changed'],
    ['customer.subscription.paused', 'changed'],
    ['customer.subscription.resumed', 'changed'],
    ['customer.subscription.deleted', 'deleted'],
  ] as const)('in an event %s is %s, and ended when it says so', (type, change) => {
    const over = subscription({ status: 'canceled', ended_at: start + 7, canceled_at: start + 3 });
    const read = { change, state: { status: 'canceled', endedAtMs: ms(start + 7) }, before: {} };
    expect(evidenceOf(stripeEvent(type, over))).toMatchObject(read);
  });

  test('has a license whose id is its own, made an id of the service', () => {
    const longest = `sub_${'a'.repeat(56)}`;
    expect(licenseIdOf('sub_1SAda')).toBe('lic_sub_1SAda');
    expect(evidenceOf(updated({ id: longest }))).toMatchObject({ subscriptionId: longest });
    expect(isId(licenseIdOf(longest))).toBe(true);
  });

  test('whose earlier state can’t be read is read without it: it only breaks ties', () => {
    const odd = updated({}, { status: 'active', items: 'many' as never });
    expect(evidenceOf(odd)).toMatchObject({ state: { status: 'active' }, before: {} });
  });

  test('of which an event shows only the first items is a failure that says which list is needed', () => {
    const cut = { items: { ...items('price_pro'), has_more: true } };
    const list = { what: 'The items of subscription sub_1SAda', query: { subscription: 'sub_1SAda' } };
    expect(failureOf(updated(cut))).toMatchObject({ reason: 'cut_off', list });
  });

  test('whose earlier items are cut off had those that it has, but what was added just before the event', () => {
    const [pro, seat, added] = [item('price_pro', end, 2), item('price_seat', end), item('price_add', end)];
    Object.assign(seat, { created: start - 2 });
    Object.assign(added, { created: start - 1 });
    const before = { ...itemList([{ ...pro, quantity: 1 }]), has_more: true };
    const read = evidenceOf(updated({ items: itemList([pro, seat, added]) }, { items: before }));
    const had = ['price_pro', 'price_seat'].map((priceId) => ({ priceId, quantity: 1 }));
    expect(read).toMatchObject({ before: { items: had } });
  });

  test('is canceled at its period’s end only where it says so', () => {
    const silent = updated({ cancel_at_period_end: null as never }, { cancel_at_period_end: true });
    const read = { state: { cancelsAtPeriodEnd: false }, before: { cancelsAtPeriodEnd: true } };
    expect(evidenceOf(silent)).toMatchObject(read);
  });

  test.each([
    ['metadata of null', { metadata: null as never }],
    ['an empty one', { metadata: { ownerId: '' } }],
    ['one that is no id', { metadata: { ownerId: 'a#b' } }],
    ['one that is too long', { metadata: { ownerId: 'a'.repeat(65) } }],
  ])('whose metadata name no owner (%s) has none', (_, changes) => {
    expect(evidenceOf(updated(changes))).toMatchObject({ ownerId: null });
  });
});

describe('a checkout', () => {
  const { bought } = eventsOf('sub_1SAda');

  test.each(['completed', 'async_payment_succeeded'] as const)(
    'that is %s names the account which opened it, paid or not yet',
    (what) => {
      const event = { ...bought(start, { payment_status: 'unpaid' }), type: `checkout.session.${what}` };
      const eventId = event.id;
      expect(evidenceOf(event)).toEqual({
        kind: 'checkout',
        eventId,
        occurredAtMs: ms(start),
        subscriptionId: 'sub_1SAda',
        ownerId,
      });
    },
  );

  test.each([
    ['nobody', null],
    ['an empty text', ''],
    ['a license', 'lic_sub_1SAda'],
    ['what is no text', 7],
    ['an account and more', `${ownerId}\n`],
    ['the key of an item', `${ownerId}#`],
    ['an account in capitals', ownerId.toUpperCase()],
  ])('that refers to %s binds nothing', (_, reference) => {
    expect(evidenceOf(bought(start, { client_reference_id: reference as never }))).toBeNull();
  });

  test('that began no subscription says nothing of a license', () => {
    expect(evidenceOf(bought(start, { mode: 'setup', subscription: null }))).toBeNull();
  });

  test.each([
    ['the id of none', 'sub_1#x'],
    ['an object', { id: 'sub_1' }],
  ])('whose subscription is %s is a failure', (_, subscriptionId) => {
    const event = bought(start, { subscription: subscriptionId as never });
    expect(failureOf(event)).toMatchObject({ reason: 'unreadable' });
  });
});

describe('an invoice', () => {
  const now = start + 3600;
  const paid = (changes = {}, created = now) =>
    stripeEvent('invoice.paid', invoice(changes), { id: 'evt_2', created });
  const units = (quantity: number) => [{ priceId: 'price_pro', quantity }];
  const expected = {
    kind: 'paid',
    eventId: 'evt_2',
    occurredAtMs: ms(now),
    subscriptionId: 'sub_1SAda',
    periodStartMs: ms(start),
    isFree: false,
    items: units(1),
    periodEndMs: ms(end),
    prorations: [] as object[],
  };
  const farEnd = end + 300 * day;
  const part = (quantity: number) => ({
    priceId: 'price_pro',
    quantity,
    startMs: ms(start),
    endMs: ms(end),
  });
  const givenBack = { ...part(-1), endMs: ms(farEnd) };
  const begins = (from: number) => ({ period: { start: from, end } });
  const planPart = { subscription_item_details: { proration: true } } as never;

  test.each([
    ['is read with its subscription and the end of what it bills', {}, {}],
    [
      'bills until the latest of its plans',
      { lines: linesOf(line(end), line(end + day), line(start)) },
      { periodEndMs: ms(end + day), items: units(3) },
    ],
    ['is free where its plans are', { lines: linesOf(line(end, { amount: 0 })) }, { isFree: true }],
    [
      'is not free where one of them is not',
      { lines: linesOf(line(end), line(end, { amount: 0 })) },
      { items: units(2) },
    ],
    [
      'begins a period at that moment',
      { lines: linesOf(line(end, begins(now))) },
      { periodStartMs: ms(now) },
    ],
    ['bills a period since 1970', { lines: linesOf(line(end, begins(0))) }, { periodStartMs: 0 }],
    [
      'bills parts of a month, each with its units',
      {
        lines: linesOf(
          extraLine(end, 900, true),
          line(end, { amount: 900, quantity: 3, parent: planPart }),
          { ...extraLine(end, -600, true), quantity: 2 },
          { ...extraLine(end, 0, true), quantity: null },
        ),
      },
      { periodStartMs: null, isFree: true, items: [], prorations: [1, 3, -2, 1].map(part) },
    ],
    [
      'bills until neither the end of what it gives credit for nor that of a one-off item',
      { lines: linesOf(extraLine(farEnd, -4000, true), line(end), extraLine(farEnd, 700, false)) },
      { prorations: [givenBack] },
    ],
  ])('%s, in both shapes of the API', (_, changes, read) => {
    expect(evidenceOf(paid(changes))).toEqual({ ...expected, ...read });
    expect(evidenceOf(older(paid(changes)))).toEqual({ ...expected, ...read });
  });

  const nothing = (credited: object | null, details = 'invoice_item_details') => ({
    ...extraLine(end, 0, true),
    parent: { [details]: { proration: true, proration_details: { credited_items: credited } } } as never,
  });
  const billed = { invoice: 'in_first', invoice_line_items: ['il_first'] };
  test.each([
    ['names what it gives back', [nothing(billed)], [-1]],
    ['names it as a part of the plan', [nothing(billed, 'subscription_item_details')], [-1]],
    ['names nothing', [nothing(null)], [1]],
    [
      'is beside a part that is billed, and names nothing',
      [nothing(null), extraLine(end, 900, true)],
      [1, 1],
    ],
    ['is left for a whole period that is paid', [nothing(billed), line(end)], []],
    ['is left for one that is free', [nothing(billed), line(end, { amount: 0 })], [-1]],
  ])('tells by a part of amount 0 that %s whether it gives back', (_, lines, quantities) => {
    const read = evidenceOf(paid({ lines: linesOf(...lines) })) as InvoiceEvidence;
    expect(read.prorations.map(({ quantity }) => quantity)).toEqual(quantities);
  });

  test('of the older shape tells the same by the line itself', () => {
    const event = older(paid({ lines: linesOf(nothing(null)) }));
    event.data.object.lines.data[0].proration_details = { credited_items: billed };
    expect(evidenceOf(event)).toMatchObject({ prorations: [{ quantity: -1 }] });
  });

  test('tells what a price with tiers bills, and nothing where it does not say which prices', () => {
    const tiers = [line(end, { quantity: 5 }), line(end, { quantity: 2 })];
    const sorted = [...tiers, line(end, { pricing: pricing('price_add'), quantity: null })];
    expect(evidenceOf(paid({ lines: linesOf(...sorted) }))).toMatchObject({
      items: [{ priceId: 'price_add', quantity: 1 }, ...units(7)],
    });
    const former = line(end, { period: { start: start - 30 * day, end: start } });
    expect(evidenceOf(paid({ lines: linesOf(former, line(end)) }))).toMatchObject({ items: units(1) });
    const unknown = paid({ lines: linesOf(line(end), line(end, { pricing: null })) });
    expect(evidenceOf(unknown)).toMatchObject({ items: [] });
  });

  test('whose payment failed is read to the same', () => {
    const failed = stripeEvent('invoice.payment_failed', invoice(), { id: 'evt_2', created: start + 3600 });
    expect(evidenceOf(failed)).toEqual({ ...expected, kind: 'failed' });
  });

  test.each([
    ['only gives back', extraLine(end, -4000, true), 0],
    ['bills what a change costs', extraLine(end + day, 900, true), ms(end + day)],
    ['bills what has not begun', line(end, { period: { start: start + 7200, end } }), ms(end)],
  ])('that %s begins no period', (_, only, periodEndMs) => {
    const event = paid({ lines: linesOf(only) });
    expect(evidenceOf(event)).toMatchObject({ periodStartMs: null, periodEndMs });
    expect(evidenceOf(older(event))).toEqual(evidenceOf(event));
  });

  test.each([
    ['', null],
    [', in a newer member', { ...pricing('price_pro'), price_details: null }],
  ])('that does not say which price a part is of is read without it%s', (_, of) => {
    const only = { ...extraLine(end, 900, true), pricing: of } as never;
    expect(evidenceOf(paid({ lines: linesOf(only) }))).toMatchObject({ prorations: [{ priceId: null }] });
  });

  test('of which an event shows only the first lines is a failure that says which list is needed', () => {
    const cut = paid({ id: 'in_1', lines: { ...linesOf(line(end)), has_more: true } });
    const list = { what: 'The lines of invoice in_1 of sub_1SAda', path: '/v1/invoices/in_1/lines' };
    expect(failureOf(cut)).toMatchObject({ reason: 'cut_off', list });
  });

  const bare = { ...line(end), parent: { invoice_item_details: null, subscription_item_details: null } };
  test.each([
    ['belongs to no subscription', { parent: null }],
    ['is of a quote', { parent: { ...parentOf('sub_1'), subscription_details: null } }],
    ['bills one-off items only', { lines: linesOf(extraLine(end, 700, false)) }],
    ['has lines that say nothing of what they bill', { lines: linesOf(bare as never) }],
    ['has lines that belong to nothing', { lines: linesOf(line(end, { parent: null })) }],
    ['bills nothing', { lines: linesOf() }],
    ['bills a period that is over at that moment', { lines: linesOf(line(start + 3600)) }],
  ])('that %s says nothing', (_, changes) => expect(evidenceOf(paid(changes))).toBeNull());

  test('of the older shape that bills one-off items only says nothing', () => {
    expect(evidenceOf(older(paid({ lines: linesOf(extraLine(end, 700, false)) })))).toBeNull();
  });

  test('counts until the last second of what it bills', () => {
    expect(evidenceOf(paid({}, end - 1))).not.toBeNull();
  });
});

describe('an event', () => {
  test.each(['customer.created', 'invoice.created', 'customer.subscription.trial_will_end'])(
    'of another type, %s, says nothing, whatever its object',
    (type) => {
      for (const object of [null, subscription()])
        expect(evidenceOf({ ...updated(), type, data: { object } })).toBeNull();
    },
  );

  const event = updated();
  const withObject = (object: unknown) => ({ ...event, data: { object } });
  const itemWith = (changes: object) =>
    updated({ items: itemList([{ ...item('price_pro', end), ...changes }]) });

  test.each([
    ['null', withObject(null)],
    ['no items', withObject({ ...subscription(), items: undefined })],
    ['no anchor', withObject({ ...subscription(), billing_cycle_anchor: undefined })],
    ['a status that nobody knows', updated({ status: 'sleeping' as never })],
    ['an id that makes no license', updated({ id: `sub_${'a'.repeat(57)}` })],
    ['an id that reaches for another key', updated({ id: 'sub_1#KEYS' })],
    ['an id that begins elsewhere', updated({ id: 'x_sub_1' })],
    ['a time with a fraction', updated({ billing_cycle_anchor: 1.5 })],
    ['a time before 1970', updated({ billing_cycle_anchor: -1 })],
    ['a time after 9999', updated({ cancel_at: 253_402_300_800 })],
    ['an item without a price', itemWith({ price: null })],
    ['a fraction of a unit', itemWith({ quantity: 0.5 })],
    ['fewer units than none', itemWith({ quantity: -1 })],
    ['more units than are safe to count', itemWith({ quantity: 100_001 })],
    ['an invoice without lines', stripeEvent('invoice.paid', { id: 'in_1' } as never)],
    ['an odd invoice', stripeEvent('invoice.paid', invoice({ parent: parentOf('sub_1#x') }))],
    ['a time of its own that is odd', { ...event, created: 'now' }],
    ['an id that is none', { ...event, id: 'evt_1 ' }],
    ['a type that begins oddly', { ...event, type: `-${event.type}` }],
    ['a type that ends oddly', { ...event, type: `${event.type}\n` }],
    ['no data', { ...event, data: undefined }],
  ])('of a type that is read, with %s, is a failure and never ignored', (_, hostile) => {
    expect(failureOf(hostile)).toMatchObject({ reason: 'unreadable' });
  });

  test.each(['{', 'null', '{"detail":[]}'])('in a message that reads %j is a failure', (body) => {
    expect(() => parseRawEvent(body)).toThrow(expect.objectContaining({ reason: 'unreadable' }));
  });

  test('of a subscription without a period says so', () => {
    const message = expect.stringContaining('has no current_period_end');
    expect(failureOf(itemWith({ current_period_end: undefined }))).toMatchObject({ message });
  });

  test('that fails says which member is wrong and never what stood there', () => {
    const secret = 'ada@example.com';
    const bad = updated({ status: secret as never, billing_cycle_anchor: secret as never });
    const { message } = failureOf(bad) as Error;
    expect(message).toContain('status');
    expect(message).toContain('billing_cycle_anchor');
    expect(message).not.toContain(secret);
    expect(() => parseRawEvent(`{"detail": "${secret}`)).toThrow('The message is not JSON.');
  });
});
