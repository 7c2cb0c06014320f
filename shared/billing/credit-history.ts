import { isDeepStrictEqual } from 'node:util';
import { countAt, type Moment, type Terms } from './credit-count.ts';
import type { BillingEvidence, InvoiceEvidence, SubscriptionSnapshot } from './evidence.ts';

/** A subscription has about one a month, so this is years. Whoever makes more is remembered by the count they led to. */
const maxMoments = 40;

/** What an event says about credits. */
export function momentsOf(evidence: BillingEvidence): Moment[] {
  if (evidence.kind === 'subscription') return changeOf(evidence);
  return evidence.kind === 'paid' ? paymentsOf(evidence) : [];
}

/** Only of a creation, and of an event that says that the terms changed: it says what they were before, too. */
function changeOf({ change, eventId, occurredAtMs, state, before }: SubscriptionSnapshot): Moment[] {
  const terms = termsOf(state);
  const former = termsOf({ ...state, ...before });
  const isNew = change === 'created' || !isDeepStrictEqual(terms, former);
  // Stripe renews a subscription, and does what was planned for that moment, a little after a period has begun.
  const formerEndMs = before.periodEndMs ?? state.periodEndMs;
  const isRenewal = formerEndMs < state.periodEndMs && terms.anchorMs === former.anchorMs;
  const atMs = isRenewal ? Math.min(formerEndMs, occurredAtMs) : occurredAtMs;
  return isNew ? [{ kind: 'terms', atMs, eventId, terms, before: former }] : [];
}

function paymentsOf({ eventId, periodStartMs, isFree, items, prorations }: InvoiceEvidence): Moment[] {
  const moments: Moment[] = [];
  if (prorations.length > 0) {
    const atMs = Math.min(...prorations.map(({ startMs }) => startMs));
    moments.push({ kind: 'prorated', atMs, eventId, prorations });
  }
  if (periodStartMs !== null) {
    const givesBack = prorations.some(({ quantity, endMs }) => quantity < 0 && endMs > periodStartMs);
    moments.push({ kind: 'paid', atMs: periodStartMs, eventId, givesBack, isFree, items });
  }
  return mergeMoments(moments, []);
}

export function lastStateOf({ occurredAtMs, createdAtMs, state }: SubscriptionSnapshot) {
  return { atMs: occurredAtMs, createdAtMs, terms: termsOf(state) };
}

function termsOf({ anchorMs, items }: Terms): Terms {
  return { anchorMs, items };
}

/** In one second what is billed, or given back, is of the terms before, where those have such a period. */
const ranks = { count: 0, paid: 1, prorated: 2, terms: 3 } as const;

/** Both together, sorted. Commutative, associative and idempotent. */
export function mergeMoments(a: Moment[], b: Moment[]): Moment[] {
  const byKey = new Map(
    [...a, ...b].map((moment) => [`${moment.kind} ${moment.eventId} ${moment.atMs}`, moment]),
  );
  const all = [...byKey.values()].sort(
    (one, other) =>
      one.atMs - other.atMs || ranks[one.kind] - ranks[other.kind] || (one.eventId < other.eventId ? -1 : 1),
  );
  const last = all.findLast(({ kind }) => kind === 'count');
  // What comes to be known of the time that a count stands for comes too late.
  return last === undefined ? all : [last, ...all.filter(({ atMs }) => atMs > last.atMs)];
}

/** Lets the count that they led to stand for the oldest moments, where there are too many. */
export function shortened(moments: Moment[], last: SubscriptionSnapshot | null): Moment[] {
  if (moments.length <= maxMoments || last === null) return moments;
  const { atMs } = moments[moments.length - maxMoments]!;
  const later = moments.filter((moment) => moment.atMs > atMs);
  const count = countAt(moments.length - later.length, moments, lastStateOf(last));
  return [{ kind: 'count', atMs, eventId: '', count }, ...later];
}
