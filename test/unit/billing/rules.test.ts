import { describe, expect, test } from '@jest/globals';
import { created, deleted, end, failed, items, licenseAfter, ms, paid, t, updated } from './life.ts';
import { day, ownerId, start, stripeEvent, type HandledEvent } from './stripe-fixtures.ts';
import { extraLine, invoice, linesOf } from './stripe-invoices.ts';

test('a license is made of the subscription and its price', () => {
  const changes = { items: items('price_pro') };
  expect(licenseAfter(created(t, changes))).toEqual({
    licenseId: 'lic_sub_1SAda',
    ownerId,
    givenName: null,
    planName: 'Studio',
    tier: 'pro',
    creditsLimit: 4000,
    foundingCatalog: true,
    maxInFlight: null,
    identityIds: [],
    apiAccess: true,
    status: 'active',
    graceUntilMs: null,
    periodAnchorMs: ms(start),
    carried: null,
    activeUntilMs: ms(end + 3 * day),
    createdAtMs: ms(start),
  });
});

describe('the status', () => {
  test.each([
    // By itself, then paid later, then with a payment that failed later.
    ['trialing', 'active', 'active', 'past_due'],
    ['active', 'active', 'active', 'past_due'],
    ['past_due', 'past_due', 'active', 'past_due'],
    ['unpaid', 'past_due', 'active', 'past_due'],
    ['paused', 'past_due', 'past_due', 'past_due'],
    ['incomplete', 'past_due', 'active', 'past_due'],
    ['canceled', 'ended', 'ended', 'ended'],
    ['incomplete_expired', 'ended', 'ended', 'ended'],
  ] as const)('%s makes the license %s; paid %s; not paid %s', (status, alone, afterPaid, afterFailed) => {
    const statusAfter = (...invoices: HandledEvent[]) =>
      licenseAfter(updated(t, { status }), ...invoices)?.status;
    expect(statusAfter()).toBe(alone);
    const around = [t - 1, t, t + 1];
    expect(around.map((at) => statusAfter(paid(at)))).toEqual([alone, alone, afterPaid]);
    expect(around.map((at) => statusAfter(failed(at)))).toEqual([alone, alone, afterFailed]);
  });

  test.each([
    ['a later payment lifts a failed one', 'active', [failed(t + 1), paid(t + 2)], 'active'],
    ['a later failure counts after a payment', 'active', [paid(t + 1), failed(t + 2)], 'past_due'],
    ['both in one second leave active as it is', 'active', [paid(t + 1), failed(t + 1)], 'active'],
    ['both in one second leave past due as it is', 'past_due', [paid(t + 1), failed(t + 1)], 'past_due'],
    ['a failure after it keeps past due', 'past_due', [paid(t + 1), failed(t + 2)], 'past_due'],
    ['a payment after the last failure lifts past due', 'past_due', [failed(t + 1), paid(t + 2)], 'active'],
    ['the newest payment counts', 'past_due', [paid(t + 3), failed(t + 2), paid(t + 1)], 'active'],
  ] as const)('%s', (_, status, invoices, expected) => {
    expect(licenseAfter(updated(t, { status }), ...invoices)?.status).toBe(expected);
  });

  test('an end is for good, whatever came or comes later', () => {
    const after = licenseAfter(deleted(t, { ended_at: t }), updated(t + 100), paid(t + 200));
    expect(after).toMatchObject({ status: 'ended', activeUntilMs: ms(t) });
    const expired = updated(t, { status: 'incomplete_expired', ended_at: t });
    expect(licenseAfter(expired, updated(t + 100))?.status).toBe('ended');
  });

  test('a deletion is an end whatever status it shows', () => {
    expect(licenseAfter(deleted(t, { status: 'active' }))?.status).toBe('ended');
  });
});

describe('a license that is past due', () => {
  const graceAfter = (...events: HandledEvent[]) => licenseAfter(...events)?.graceUntilMs;
  const grace = 7 * day;
  const due = { status: 'past_due' } as const;

  test('stays usable for 7 days from the first word of it, however often it is said again', () => {
    expect(graceAfter(updated(t))).toBeNull();
    expect(graceAfter(updated(t), updated(t + 5, due))).toBe(ms(t + 5 + grace));
    expect(graceAfter(updated(t), failed(t + 5), updated(t + 6, due))).toBe(ms(t + 5 + grace));
    const again = [updated(t + 6, due), failed(t + 2 * day), updated(t + 3 * day, due), failed(t + 8 * day)];
    expect(graceAfter(updated(t), ...again)).toBe(ms(t + 6 + grace));
  });

  test('has another 7 days when it was paid in between', () => {
    expect(graceAfter(updated(t, due), paid(t + 5), failed(t + 9))).toBe(ms(t + 9 + grace));
    expect(graceAfter(updated(t, due), updated(t + 5), updated(t + 9, due))).toBe(ms(t + 9 + grace));
    expect(graceAfter(updated(t, due), paid(t + 5))).toBeNull();
  });

  test('has no more for an invoice that only gives back', () => {
    const back = stripeEvent('invoice.paid', invoice({ lines: linesOf(extraLine(end, -700, true)) }), {
      created: t + 5,
    });
    expect(licenseAfter(updated(t, due), back)).toMatchObject({
      status: 'past_due',
      graceUntilMs: ms(t + grace),
    });
  });

  test.each(['incomplete', 'unpaid', 'paused'] as const)(
    'has none while its subscription is %s',
    (status) => {
      expect(licenseAfter(updated(t), failed(t + 1), updated(t + 5, { status }))).toMatchObject({
        status: 'past_due',
        graceUntilMs: null,
      });
    },
  );
});

describe('events of one second', () => {
  const starter = { items: items('price_starter') };
  const pro = { items: items('price_pro') };
  const tierAfter = (...events: HandledEvent[]) => licenseAfter(...events)?.tier;

  test('a creation came first', () => {
    expect(tierAfter(created(t, { items: items('price_pro', end + day) }), updated(t, starter))).toBe(
      'starter',
    );
  });

  test('a deletion came last', () => {
    const moved = updated(t, { items: items('price_pro', end + day), status: 'canceled' });
    expect(tierAfter(deleted(t, starter), moved)).toBe('starter');
  });

  test.each(['evt_0', 'evt_z'])('the one (%s) that changed what the other left came after it', (id) => {
    const second = updated(t, starter, pro, id);
    expect(tierAfter(updated(t, pro, { status: 'incomplete' }, 'evt_m'), second)).toBe('starter');
    expect(tierAfter(updated(t, pro, undefined, 'evt_m'), second)).toBe('starter');
  });

  test.each([
    ['evt_1', 'evt_2', 'evt_3'],
    ['evt_2', 'evt_3', 'evt_1'],
  ])('a chain of three is followed to its end, whatever their ids (%s, %s, %s)', (a, b, c) => {
    const chain = [
      updated(t, { status: 'active' }, { status: 'incomplete' }, a),
      updated(t, { status: 'past_due' }, { status: 'active' }, b),
      updated(t, { status: 'unpaid', cancel_at: end }, { status: 'past_due', cancel_at: null }, c),
    ];
    expect(licenseAfter(...chain)).toMatchObject({ status: 'past_due', activeUntilMs: ms(end) });
  });

  test('what was changed that no license needs says nothing of the order', () => {
    const first = updated(t, starter, { latest_invoice: 'in_0' }, 'evt_2');
    const second = updated(t, pro, { latest_invoice: 'in_1' }, 'evt_1');
    expect(tierAfter(first, second)).toBe('starter');
  });

  test('where nothing tells, the later period end counts, and then the later id', () => {
    const long = updated(t, { items: items('price_starter', end + 1) }, undefined, 'evt_1');
    const short = updated(t, pro, undefined, 'evt_2');
    const other = updated(t, starter, undefined, 'evt_1');
    expect(tierAfter(long, short)).toBe('starter');
    expect(tierAfter(other, short)).toBe('pro');
  });

  test('two that undo each other are told apart by their ids alone', () => {
    const there = updated(t, starter, pro, 'evt_1');
    const back = updated(t, pro, starter, 'evt_2');
    expect(tierAfter(there, back)).toBe('pro');
  });
});

describe('the end of access', () => {
  const untilAfter = (...events: HandledEvent[]) => licenseAfter(...events)?.activeUntilMs;
  const slack = 3 * day;

  test('is the period’s end and three days', () => {
    expect(untilAfter(updated(t))).toBe(ms(end + slack));
    expect(untilAfter(updated(t, { status: 'past_due' }))).toBe(ms(end + slack));
  });

  test('of a yearly plan is a year away, while its credits renew by the month from its anchor', () => {
    const yearly = { items: items('price_pro', start + 365 * day) };
    expect(licenseAfter(updated(t, yearly))).toMatchObject({
      activeUntilMs: ms(start + 365 * day + slack),
      periodAnchorMs: ms(start),
      creditsLimit: 4000,
    });
  });

  test('is raised by what was paid since the subscription was seen, never lowered', () => {
    expect(untilAfter(updated(t), paid(t + 1, end + 30 * day))).toBe(ms(end + 30 * day + slack));
    expect(untilAfter(updated(t), paid(t, end + 30 * day))).toBe(ms(end + 30 * day + slack));
    expect(untilAfter(updated(t), paid(t + 1, end - day))).toBe(ms(end + slack));
  });

  test('is not what was paid before the plan became shorter', () => {
    const yearPaid = paid(t, start + 365 * day);
    expect(untilAfter(yearPaid, updated(t + 1))).toBe(ms(end + slack));
  });

  test('is not raised by a payment that failed', () => {
    expect(untilAfter(updated(t), failed(t + 1, end + 30 * day))).toBe(ms(end + slack));
  });

  test.each([
    ['the moment of a cancellation at the period’s end', { cancel_at: end, cancel_at_period_end: true }, end],
    ['the same where only the flag is told', { cancel_at_period_end: true }, end],
    ['an earlier moment where one is set', { cancel_at: end - day }, end - day],
    ['a moment within the slack, exactly', { cancel_at: end + day }, end + day],
    ['not a moment that is periods away before they are paid', { cancel_at: end + 90 * day }, end + slack],
  ])('is %s', (_, changes, expected) => {
    expect(untilAfter(updated(t, changes))).toBe(ms(expected));
  });

  test('of an ended subscription is when it ended, or else when that was told', () => {
    expect(untilAfter(deleted(t, { ended_at: t - 5, cancel_at: end }))).toBe(ms(t - 5));
    expect(untilAfter(deleted(t))).toBe(ms(t));
    expect(untilAfter(deleted(t, { ended_at: t }), paid(t + 5, end + 30 * day))).toBe(ms(t));
  });
});
