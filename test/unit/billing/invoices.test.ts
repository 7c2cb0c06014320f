import { describe, expect, test } from '@jest/globals';
import { evidenceOf, older } from './delivery.ts';
import { day, start, stripeEvent } from './stripe-fixtures.ts';
import { extraLine, invoice, line, linesOf, parentOf } from './stripe-invoices.ts';
import { end, ms } from './life.ts';

describe('an invoice', () => {
  const paid = (changes = {}, created = start + 3600) =>
    stripeEvent('invoice.paid', invoice(changes), { id: 'evt_2', created });
  const expected = {
    kind: 'paid',
    eventId: 'evt_2',
    occurredAtMs: ms(start + 3600),
    subscriptionId: 'sub_1SAda',
    periodStartMs: ms(start),
    isFree: false,
    periodEndMs: ms(end),
    prorations: [] as object[],
  };

  test('is read with its subscription and the end of what it bills, in both shapes of the API', () => {
    expect(evidenceOf(paid())).toEqual(expected);
    expect(evidenceOf(older(paid()))).toEqual(expected);
    const failed = stripeEvent('invoice.payment_failed', invoice(), { id: 'evt_2', created: start + 3600 });
    expect(evidenceOf(failed)).toEqual({ ...expected, kind: 'failed' });
    expect(evidenceOf(older(failed))).toEqual({ ...expected, kind: 'failed' });
  });

  test('bills until the latest of its plans and of what a change of plan costs', () => {
    const lines = linesOf(line(end), line(end + day), line(start));
    expect(evidenceOf(paid({ lines }))).toMatchObject({ periodEndMs: ms(end + day) });
    expect(evidenceOf(paid({ lines: linesOf(line(end, { amount: 0 })) }))).toMatchObject({
      ...expected,
      isFree: true,
    });
    const change = paid({ lines: linesOf(extraLine(end + day, 900, true)) });
    expect(evidenceOf(change)).toMatchObject({ periodEndMs: ms(end + day) });
    expect(evidenceOf(older(change))).toMatchObject({ periodEndMs: ms(end + day) });
  });

  test('does not bill until the end of an exchanged plan that it gives credit for, nor of a one-off item', () => {
    const credit = extraLine(end + 300 * day, -4000, true);
    const once = extraLine(end + 300 * day, 700, false);
    const event = paid({ lines: linesOf(credit, line(end), once) });
    const givenBack = { priceId: 'price_pro', quantity: -1, startMs: ms(start), endMs: ms(end + 300 * day) };
    const read = { ...expected, prorations: [givenBack] };
    expect(evidenceOf(event)).toEqual(read);
    expect(evidenceOf(older(event))).toEqual(read);
  });

  test('that only gives back is read, and bills until no time', () => {
    const event = paid({ lines: linesOf(extraLine(end, -4000, true)) });
    expect(evidenceOf(event)).toMatchObject({ periodStartMs: null, periodEndMs: 0 });
    expect(evidenceOf(older(event))).toEqual(evidenceOf(event));
  });

  test('begins a period only where it bills a whole one that has begun', () => {
    const change = linesOf(extraLine(end, 900, true));
    const soon = linesOf(line(end, { period: { start: start + 7200, end } }));
    for (const lines of [change, soon])
      expect(evidenceOf(paid({ lines }))).toMatchObject({ periodStartMs: null });
  });

  test.each([
    ['belongs to no subscription', { parent: null }],
    ['bills one-off items only', { lines: linesOf(extraLine(end, 700, false)) }],
    ['bills nothing', { lines: linesOf() }],
    ['bills a period that is over at that moment', { lines: linesOf(line(start + 3600)) }],
  ])('that %s says nothing, in both shapes of the API', (_, changes) => {
    const event = paid(changes);
    expect(evidenceOf(event)).toBeNull();
    if (event.data.object.parent !== null) expect(evidenceOf(older(event))).toBeNull();
  });

  test('of a quote, or of lines that tell nothing of what they bill, says nothing', () => {
    const parent = { ...parentOf('sub_1'), subscription_details: null };
    const details = { invoice_item_details: null, subscription_item_details: null };
    const bare = line(end, { parent: { ...line(end).parent!, ...details } });
    expect(evidenceOf(paid({ parent }))).toBeNull();
    expect(evidenceOf(paid({ lines: linesOf(bare) }))).toBeNull();
  });

  test('counts until the last second of what it bills', () => {
    expect(evidenceOf(paid({}, end - 1))).not.toBeNull();
    expect(evidenceOf(paid({}, end))).toBeNull();
  });
});
