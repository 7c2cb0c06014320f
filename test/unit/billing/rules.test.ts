import { describe, expect, test } from '@jest/globals';
import type { License } from '../../../shared/licenses/license.ts';
import { mergeRegisters, noRegisters, registersOf } from '../../../shared/billing/subscription.ts';
import { applyEvidence, licenseOf } from '../../../shared/billing/subscription-license.ts';
import { evidenceOf } from './delivery.ts';
import {
  day,
  end,
  eventsOf,
  extraLine,
  invoice,
  items,
  linesOf,
  ms,
  ownerId,
  start,
  stripeEvent,
  t,
  type HandledEvent,
} from './stripe-fixtures.ts';

const prices = {
  price_pro: { tier: 'pro', foundingCatalog: true, name: 'Studio' },
  price_starter: { tier: 'starter' },
} as const;
const rules = { prices, pastDueGraceDays: 7 };
const { created, updated, deleted, paid, failed } = eventsOf('sub_1SAda');

/** The license after these events, in both directions of arrival. */
function licenseAfter(...events: HandledEvent[]): License | null {
  const evidence = events.map((event) => evidenceOf(event)!);
  const merge = (list: typeof evidence) => list.map(registersOf).reduce(mergeRegisters, noRegisters);
  const license = licenseOf(merge(evidence), rules);
  expect(licenseOf(merge(evidence.toReversed()), rules)).toEqual(license);
  return license;
}

test('a license is made of the subscription and its price', () => {
  expect(licenseAfter(created(t))).toEqual({
    licenseId: 'lic_sub_1SAda',
    ownerId,
    givenName: null,
    planName: 'Studio',
    tier: 'pro',
    creditsLimit: 4000,
    foundingCatalog: true,
    maxInFlight: null,
    suspended: null,
    moderation: null,
    extraUntilMs: null,
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
    ['the newest payment counts', 'past_due', [paid(t + 3), failed(t + 2), paid(t + 1)], 'active'],
    ['an end is for good, whatever comes', 'incomplete_expired', [updated(t + 9), paid(t + 9)], 'ended'],
  ] as const)('%s', (_, status, later, expected) => {
    expect(licenseAfter(updated(t, { status }), ...later)?.status).toBe(expected);
  });

  test('is ended by a deletion, whatever status that shows', () => {
    expect(licenseAfter(deleted(t, { status: 'active' }))?.status).toBe('ended');
  });
});

describe('a license that is past due', () => {
  const grace = 7 * day;
  const due = { status: 'past_due' } as const;
  const givesBack = { lines: linesOf(extraLine(end, -700, true)) };
  const back = stripeEvent('invoice.paid', invoice(givesBack), { created: t + 5 });
  const often = [updated(t + 6, due), failed(t + 2 * day), updated(t + 3 * day, due), failed(t + 8 * day)];

  test.each([
    ['stays usable for 7 days from the first word of it', [updated(t + 5, due)], t + 5],
    ['has the 7 days also while the subscription is active', [failed(t + 5)], t + 5],
    ['has them in a trial', [updated(t + 1, { status: 'trialing' }), failed(t + 5)], t + 5],
    ['has the 7 days from an invoice that failed first', [failed(t + 5), updated(t + 6, due)], t + 5],
    ['has no more days however often it is said again', often, t + 6],
    ['has 7 more once it was paid', [updated(t + 1, due), paid(t + 5), failed(t + 9)], t + 9],
    ['has 7 more once it was active', [updated(t + 1, due), updated(t + 5), updated(t + 9, due)], t + 9],
    ['has no more for an invoice that only gives back', [updated(t + 1, due), back], t + 1],
  ])('%s', (_, events, sinceSeconds) => {
    expect(licenseAfter(updated(t), ...events)?.graceUntilMs).toBe(ms(sinceSeconds + grace));
  });

  test.each(['incomplete', 'unpaid', 'paused'] as const)('has none while it is %s', (status) => {
    const license = licenseAfter(updated(t), failed(t + 1), updated(t + 5, { status }));
    expect(license).toMatchObject({ status: 'past_due', graceUntilMs: null });
  });
});

describe('of the events of one second', () => {
  const starter = { items: items('price_starter') };
  const pro = { items: items('price_pro') };
  const chain = [
    updated(t, { status: 'active' }, { status: 'incomplete' }, 'evt_2'),
    updated(t, { status: 'past_due' }, { status: 'active' }, 'evt_3'),
    updated(t, { status: 'unpaid', ...starter }, { status: 'past_due', ...pro }, 'evt_1'),
  ];
  const ofNoUse = (invoiceId: string) => ({ latest_invoice: invoiceId });

  test.each([
    ['the last of a chain counts, whatever their ids', chain, 'starter'],
    [
      'a deletion counts before any other',
      [deleted(t, starter), updated(t, { items: items('price_pro', end + day), status: 'canceled' })],
      'starter',
    ],
    [
      'the one that changed what another left counts',
      [updated(t, pro, undefined, 'evt_m'), updated(t, starter, pro, 'evt_0')],
      'starter',
    ],
    [
      'what was changed that no license needs says nothing of the order',
      [updated(t, starter, ofNoUse('in_0'), 'evt_2'), updated(t, pro, ofNoUse('in_1'), 'evt_1')],
      'starter',
    ],
    [
      'what left all as it was says nothing of the order',
      [updated(t, pro, pro, 'evt_2'), updated(t, starter, undefined, 'evt_1')],
      'pro',
    ],
    [
      'the later period end counts where nothing else decides',
      [
        updated(t, { items: items('price_starter', end + 1) }, undefined, 'evt_1'),
        updated(t, pro, {}, 'evt_2'),
      ],
      'starter',
    ],
    [
      'the later id counts of two that undo each other',
      [updated(t, starter, pro, 'evt_1'), updated(t, pro, starter, 'evt_2')],
      'pro',
    ],
  ])('%s', (_, events, tier) => expect(licenseAfter(...events)?.tier).toBe(tier));
});

describe('access ends', () => {
  const slack = 3 * day;
  const month = 30 * day;
  const over = deleted(t, { ended_at: t - 5, cancel_at: end });

  test.each([
    [
      'three days after the period, also while it is past due',
      [updated(t, { status: 'past_due' })],
      end + slack,
    ],
    ['later for what was paid since', [updated(t), paid(t, end + month)], end + month + slack],
    ['no sooner for what was paid since', [updated(t), paid(t + 1, end - day)], end + slack],
    [
      'no later for what was paid of a longer plan before',
      [paid(t, end + month), updated(t + 1)],
      end + slack,
    ],
    ['no later for a payment that failed', [updated(t), failed(t + 1, end + month)], end + slack],
    ['at the period’s end where only the flag says so', [updated(t, { cancel_at_period_end: true })], end],
    ['at an earlier moment that is set', [updated(t, { cancel_at: end - day })], end - day],
    ['at a moment within the three days', [updated(t, { cancel_at: end + day })], end + day],
    ['not at a later one before it is paid', [updated(t, { cancel_at: end + 90 * day })], end + slack],
    ['when the subscription ended, whatever is paid later', [over, paid(t + 5, end + month)], t - 5],
    ['when that was said, where nothing says when', [deleted(t)], t],
  ])('%s', (_, events, untilSeconds) => {
    expect(licenseAfter(...events)?.activeUntilMs).toBe(ms(untilSeconds));
  });

  test('a year later for a yearly plan, whose credits renew by the month', () => {
    const yearly = { items: items('price_pro', start + 365 * day) };
    expect(licenseAfter(updated(t, yearly))).toMatchObject({
      activeUntilMs: ms(start + 365 * day + slack),
      periodAnchorMs: ms(start),
      creditsLimit: 4000,
    });
  });
});

describe('applying an event', () => {
  const apply = (license: License | null, registers: typeof noRegisters, event: HandledEvent, by = rules) =>
    applyEvidence({ license, registers }, evidenceOf(event)!, by);
  const first = apply(null, noRegisters, created(t))!;
  const unpriced = { ...rules, prices: {} as typeof prices };

  test('that is repeated makes a license again that is gone, and fails where its price is unknown', () => {
    const event = created(t);
    const once = apply(null, noRegisters, event)!;
    expect(apply(null, once.registers, event)).toEqual(once);
    expect(() => apply(null, once.registers, event, unpriced)).toThrow(
      expect.objectContaining({
        reason: 'unknown_price',
        message: 'The billing prices have no entry for "price_pro".',
      }),
    );
  });

  test('that is repeated, or older, changes nothing and needs no price', () => {
    const again = created(t + 5, { metadata: { ownerId } });
    const once = apply(first.license, first.registers, again)!;
    expect(apply(once.license, once.registers, again, unpriced)).toBeNull();
    const late = updated(t + 4, { items: items('price_x') });
    expect(apply(once.license, once.registers, late, unpriced)).toBeNull();
  });

  test('of an invoice before its subscription is remembered without a license', () => {
    const early = paid(t + 1, end + day);
    const before = apply(null, noRegisters, early)!;
    expect(before.license).toBeNull();
    expect(apply(null, before.registers, early)).toBeNull();
    const after = apply(null, before.registers, created(t, { status: 'incomplete' }))!;
    expect(after.license).toMatchObject({ status: 'active', activeUntilMs: ms(end + 4 * day) });
  });

  test('of another owner is a failure', () => {
    const other = updated(t + 1, { metadata: { ownerId: 'someone-else' } });
    expect(() => apply(first.license, first.registers, other)).toThrow(
      expect.objectContaining({
        reason: 'owner_changed',
        message: "metadata.ownerId is not the owner of the subscription's license.",
      }),
    );
  });

  test('finds a license ended that it knows nothing of: that was the operator’s doing', () => {
    const ended: License = { ...first.license!, status: 'ended' };
    const next = { license: null, registers: { endedByOperator: true } };
    expect(apply(ended, noRegisters, created(t))).toMatchObject(next);
  });

  test('that ended is not taken for an end by the operator', () => {
    const over = apply(first.license, first.registers, deleted(t + 3, { ended_at: t + 3 }))!;
    const later = apply(over.license, over.registers, deleted(t + 4, { ended_at: t + 4 }))!;
    expect(later.registers.endedByOperator).toBe(false);
    expect(later.license).toMatchObject({ status: 'ended', activeUntilMs: ms(t + 4) });
  });
});
