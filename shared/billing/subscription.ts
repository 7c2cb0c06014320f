import { isDeepStrictEqual } from 'node:util';
import {
  billsAhead,
  type BillingEvidence,
  type InvoiceEvidence,
  type SubscriptionSnapshot,
  type SubscriptionState,
  type SubscriptionStatus,
} from './evidence.ts';
import { dueSinceMs, mergeStandings, neverDue, paidStatuses, standingOf, type Standing } from './standing.ts';
import type { Moment } from './credit-count.ts';
import { mergeMoments, momentsOf, shortened } from './credit-history.ts';
import type { LicenseStatus } from '../licenses/contract.ts';

const dayMs = 24 * 60 * 60 * 1000;

/**
 * How long a license outlives its paid period. An event that comes late then interrupts nobody who paid, and one that is
 * lost does not keep a license alive for good.
 */
const slackMs = 3 * dayMs;

/**
 * What is remembered of a subscription's events. Each member keeps only the newest by an order of its own. So the same
 * events leave the same registers, in whatever order and however often they come.
 */
export interface BillingRegisters {
  /** The newest; more than one when they happened in the same second. Sorted by event. */
  snapshots: SubscriptionSnapshot[];
  /** The newest of each. */
  paid: InvoiceEvidence | null;
  failed: InvoiceEvidence | null;
  /** What decides the credits, oldest first. */
  moments: Moment[];
  standing: Standing;
  /** Whose the subscription is as long as it has no license: then the license's owner counts. Null while nobody says so. */
  owner: OwnerClaim | null;
  /** An operator ended the license while the subscription went on. From then on no event changes it. */
  endedByOperator: boolean;
}

/** What an event says of the owner. */
export interface OwnerClaim {
  ownerId: string;
  by: 'metadata' | 'checkout';
  occurredAtMs: number;
  eventId: string;
}

export const noRegisters: BillingRegisters = {
  snapshots: [],
  paid: null,
  failed: null,
  moments: [],
  standing: neverDue,
  owner: null,
  endedByOperator: false,
};

/** The registers after a single event. */
export function registersOf(evidence: BillingEvidence): BillingRegisters {
  const registers = {
    ...noRegisters,
    moments: momentsOf(evidence),
    standing: standingOf(evidence),
    owner: claimOf(evidence),
  };
  if (evidence.kind === 'subscription') return { ...registers, snapshots: [evidence] };
  if (evidence.kind === 'checkout') return registers;
  return billsAhead(evidence) ? { ...registers, [evidence.kind]: evidence } : registers;
}

function claimOf(evidence: BillingEvidence): OwnerClaim | null {
  if (evidence.kind !== 'subscription' && evidence.kind !== 'checkout') return null;
  const { kind, ownerId, occurredAtMs, eventId } = evidence;
  const by = kind === 'checkout' ? 'checkout' : 'metadata';
  return ownerId === null ? null : { ownerId, by, occurredAtMs, eventId };
}

/** The metadata are the operator's own word, so they count before a checkout; then the earliest does. */
function firstClaim(a: OwnerClaim | null, b: OwnerClaim | null): OwnerClaim | null {
  if (a === null || b === null) return a ?? b;
  if (a.by !== b.by) return a.by === 'metadata' ? a : b;
  const order = a.occurredAtMs - b.occurredAtMs;
  return order < 0 || (order === 0 && a.eventId <= b.eventId) ? a : b;
}

/** Commutative, associative and idempotent, as long as there are not too many moments. */
export function mergeRegisters(a: BillingRegisters, b: BillingRegisters): BillingRegisters {
  const snapshots = newestSnapshots([...a.snapshots, ...b.snapshots]);
  return {
    snapshots,
    paid: newestInvoice(a.paid, b.paid),
    failed: newestInvoice(a.failed, b.failed),
    moments: shortened(mergeMoments(a.moments, b.moments), lastOf(snapshots)),
    standing: mergeStandings(a.standing, b.standing),
    owner: firstClaim(a.owner, b.owner),
    endedByOperator: a.endedByOperator || b.endedByOperator,
  };
}

/** Whether the subscription has ended. Nothing undoes that. */
export function isOver({ snapshots }: BillingRegisters): boolean {
  return snapshots.some(isFinal);
}

/** Whether something is being paid, or was to be, and nobody has it. A first payment that never came needs no owner. */
export function awaitsOwner(registers: BillingRegisters): boolean {
  const last = lastSnapshot(registers);
  return last !== null && !isFinal(last) && last.state.status !== 'incomplete';
}

function isFinal({ change, state }: SubscriptionSnapshot): boolean {
  return change === 'deleted' || state.status === 'canceled' || state.status === 'incomplete_expired';
}

/** An end counts as newer than every other event, because a subscription that ended never comes back. */
function newestSnapshots(all: SubscriptionSnapshot[]): SubscriptionSnapshot[] {
  const ends = all.filter(isFinal);
  const rivals = ends.length > 0 ? ends : all;
  const newestMs = Math.max(...rivals.map(({ occurredAtMs }) => occurredAtMs));
  const newest = rivals.filter(({ occurredAtMs }) => occurredAtMs === newestMs);
  const byEvent = new Map(newest.map((snapshot) => [snapshot.eventId, snapshot]));
  return [...byEvent.values()].sort((a, b) => (a.eventId < b.eventId ? -1 : 1));
}

function newestInvoice(a: InvoiceEvidence | null, b: InvoiceEvidence | null): InvoiceEvidence | null {
  if (a === null || b === null) return a ?? b;
  const order = a.occurredAtMs - b.occurredAtMs || a.periodEndMs - b.periodEndMs;
  return order > 0 || (order === 0 && a.eventId > b.eventId) ? a : b;
}

const changeRank = { created: 0, changed: 1, deleted: 2 } as const;

/**
 * The subscription's state after its newest second; null before its first event. Stripe's times are whole seconds, so
 * events of one second are ordered by these rules: a creation came first and a deletion last. Otherwise the last event
 * is the one whose state no other event names as the state before it. If several are left, the latest period end
 * decides, and then the event's id.
 */
export function lastSnapshot({ snapshots }: BillingRegisters): SubscriptionSnapshot | null {
  return lastOf(snapshots);
}

function lastOf(snapshots: SubscriptionSnapshot[]): SubscriptionSnapshot | null {
  const highest = Math.max(...snapshots.map(({ change }) => changeRank[change]));
  const rivals = snapshots.filter(({ change }) => changeRank[change] === highest);
  const unchanged = rivals.filter((one) => !rivals.some((other) => other !== one && follows(other, one)));
  const [first, ...others] = unchanged.length > 0 ? unchanged : rivals;
  if (first === undefined) return null;
  // They are sorted by event id, so the later id wins a tie.
  return others.reduce((last, one) => (one.state.periodEndMs >= last.state.periodEndMs ? one : last), first);
}

/** Whether an event's state before it is the state that the other event left. */
function follows(event: SubscriptionSnapshot, other: SubscriptionSnapshot): boolean {
  const changed = Object.keys(event.before) as (keyof SubscriptionState)[];
  return (
    changed.length > 0 &&
    changed.every((member) => isDeepStrictEqual(event.before[member], other.state[member]))
  );
}

/**
 * An invoice counts when it is newer than everything that says the opposite. In the same second the subscription's own
 * status counts, so the order of arrival never decides. Only its own events resume a paused subscription.
 */
export function statusOf({ paid, failed }: BillingRegisters, last: SubscriptionSnapshot): LicenseStatus {
  if (isFinal(last)) return 'ended';
  const [paidMs, failedMs] = [paid?.occurredAtMs ?? 0, failed?.occurredAtMs ?? 0];
  const { status } = last.state;
  if (paidStatuses.includes(status)) {
    return failedMs > Math.max(last.occurredAtMs, paidMs) ? 'past_due' : 'active';
  }
  const isLifted = status !== 'paused' && paidMs > Math.max(last.occurredAtMs, failedMs);
  return isLifted ? 'active' : 'past_due';
}

/** Stripe tries again to collect the payment. A first payment that never came, and one that was given up, have no grace. */
const graceStatuses: SubscriptionStatus[] = ['trialing', 'active', 'past_due'];

/** Until when a license that is past due stays usable; null when it does not, or is not past due. */
export function graceUntilMs(
  registers: BillingRegisters,
  last: SubscriptionSnapshot,
  graceDays: number,
): number | null {
  if (statusOf(registers, last) !== 'past_due' || !graceStatuses.includes(last.state.status)) return null;
  return (dueSinceMs(registers.standing) ?? last.occurredAtMs) + graceDays * dayMs;
}

/** When the license ends if no other event ever comes. */
export function activeUntilMs({ paid }: BillingRegisters, last: SubscriptionSnapshot): number {
  const { periodEndMs, cancelAtMs, cancelsAtPeriodEnd, endedAtMs } = last.state;
  if (isFinal(last)) return endedAtMs ?? last.occurredAtMs;
  const paidUntilMs = paid !== null && paid.occurredAtMs >= last.occurredAtMs ? paid.periodEndMs : 0;
  const untilMs = Math.max(periodEndMs, paidUntilMs) + slackMs;
  const endMs = cancelAtMs ?? (cancelsAtPeriodEnd ? periodEndMs : untilMs);
  return Math.min(endMs, untilMs);
}
