import { billsAhead, type BillingEvidence, type SubscriptionStatus } from './evidence.ts';

export const paidStatuses: SubscriptionStatus[] = ['trialing', 'active'];
const dueStatuses: SubscriptionStatus[] = ['past_due', 'unpaid'];

/**
 * Since when a payment is due. Its times are in order of what counts: within a second the subscription's own word is
 * later than an invoice's, by a millisecond, because Stripe's times are whole seconds.
 */
export interface Standing {
  /** When it was last said that all is paid. */
  paidMs: number;
  /** When it was said since then that something is due. Oldest first. */
  dueMs: number[];
}

export const neverDue: Standing = { paidMs: 0, dueMs: [] };

/** Far more than Stripe tries a payment. The oldest is the one that counts. */
const maxDue = 50;

export function standingOf(evidence: BillingEvidence): Standing {
  const { occurredAtMs } = evidence;
  if (evidence.kind === 'subscription') {
    const { status } = evidence.state;
    if (paidStatuses.includes(status)) return { paidMs: occurredAtMs + 1, dueMs: [] };
    return { paidMs: 0, dueMs: dueStatuses.includes(status) ? [occurredAtMs + 1] : [] };
  }
  if (evidence.kind === 'checkout' || !billsAhead(evidence)) return neverDue;
  if (evidence.kind === 'failed') return { paidMs: 0, dueMs: [occurredAtMs] };
  return { paidMs: occurredAtMs, dueMs: [] };
}

/** Commutative, associative and idempotent. */
export function mergeStandings(a: Standing, b: Standing): Standing {
  const paidMs = Math.max(a.paidMs, b.paidMs);
  const dueMs = [...new Set([...a.dueMs, ...b.dueMs])].filter((atMs) => atMs > paidMs);
  const [first, ...others] = dueMs.sort((one, other) => one - other);
  return { paidMs, dueMs: first === undefined ? [] : [first, ...others.slice(1 - maxDue)] };
}

/** When it was first said that something is due, since all was paid; null where nobody says so. */
export function dueSinceMs({ dueMs: [first] }: Standing): number | null {
  return first === undefined ? null : first - (first % 1000);
}
