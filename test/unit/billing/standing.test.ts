import { expect, test } from '@jest/globals';
import type { BillingEvidence, SubscriptionStatus } from '../../../shared/billing/evidence.ts';
import { dueSinceMs, mergeStandings, neverDue, standingOf } from '../../../shared/billing/standing.ts';

const atMs = Date.UTC(2026, 4, 17);
const said = (evidence: object) => standingOf({ occurredAtMs: atMs, ...evidence } as BillingEvidence);
const status = (of: SubscriptionStatus) => said({ kind: 'subscription', state: { status: of } });
const invoice = (kind: 'paid' | 'failed', periodEndMs = atMs + 1) => said({ kind, periodEndMs });

test('a subscription and its invoices say whether something is due; within a second the subscription’s word is the later', () => {
  for (const paid of ['active', 'trialing'] as const)
    expect(status(paid)).toEqual({ paidMs: atMs + 1, dueMs: [] });
  for (const due of ['past_due', 'unpaid'] as const)
    expect(status(due)).toEqual({ paidMs: 0, dueMs: [atMs + 1] });
  expect(status('incomplete')).toEqual(neverDue);
  expect(invoice('paid')).toEqual({ paidMs: atMs, dueMs: [] });
  expect(invoice('failed')).toEqual({ paidMs: 0, dueMs: [atMs] });
  // Of a period that is over by then.
  expect([invoice('paid', atMs), invoice('failed', atMs)]).toEqual([neverDue, neverDue]);
});

test('what is due is known from its beginning, and of very much the newest fifty', () => {
  const due = (...dueMs: number[]) => ({ paidMs: 0, dueMs });
  expect(mergeStandings(due(7, 5), { paidMs: 5, dueMs: [9, 7] })).toEqual({ paidMs: 5, dueMs: [7, 9] });
  expect(mergeStandings(due(5), { paidMs: 5, dueMs: [] })).toEqual({ paidMs: 5, dueMs: [] });
  const many = Array.from({ length: 60 }, (_, i) => i + 1);
  expect(mergeStandings(due(...many), neverDue)).toEqual(due(1, ...many.slice(11)));
  expect(dueSinceMs(due(61_234, 70_000))).toBe(61_000);
  expect(dueSinceMs(neverDue)).toBeNull();
});
