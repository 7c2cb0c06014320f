import type { Actor } from '../accounts/audit.ts';
import { addExtraCredits, takeBackExtraCredits } from '../licenses/extra-credits-store.ts';
import { extraCreditsExpireAtMs } from '../licenses/extra-credits.ts';
import type { Table } from '../table/table.ts';
import { BillingFailure } from './evidence.ts';
import { read } from './event.ts';
import { charge, checkoutSession, type RawEvent } from './stripe-objects.ts';

/** What an event says of a pack of credits, or of a payment that may have bought one. */
export type PackEvidence = {
  eventId: string;
  /** Stripe's payment intent; of a checkout that cost nothing, its session. */
  paymentId: string;
} & (
  | { kind: 'purchase'; paidAtMs: number; planId: string; licenseId: string }
  /** In the smallest unit of the currency; `refunded` is the sum of all refunds. */
  | { kind: 'refund'; refunded: number; amount: number }
);

export interface PackDeps {
  table: Table;
  /** The credits of each pack, by the plan's id. */
  packs: Readonly<Record<string, number>>;
  /** How long a pack lasts. */
  months: number;
}

/**
 * @returns null when an event says nothing of packs: a checkout whose payment has not come, or that sold something else.
 * @throws BillingFailure `unreadable`
 */
export function readPackEvent(event: RawEvent): PackEvidence | null {
  if (event.type === 'charge.refunded') return readRefund(event);
  if (event.type === 'checkout.session.completed') return readPurchase(event, 'only if nothing is due');
  return event.type === 'checkout.session.async_payment_succeeded' ? readPurchase(event, 'it is paid') : null;
}

/** No later event tells of a checkout that a coupon made free (Stripe, "No-cost orders"). */
const settledStatuses = ['paid', 'no_payment_required'];

function readPurchase({ id: eventId, created, data }: RawEvent, counts: string): PackEvidence | null {
  const session = read(checkoutSession, data.object);
  const { id, mode, metadata, payment_status: status, payment_intent: intent } = session;
  const planId = metadata?.plan;
  if (mode !== 'payment' || planId === undefined) return null;
  if (counts === 'only if nothing is due' && !settledStatuses.includes(status)) return null;
  return {
    kind: 'purchase',
    eventId,
    paymentId: intent ?? `cs${id.slice(-60)}`,
    paidAtMs: created,
    planId: String(planId),
    licenseId: String(session.client_reference_id),
  };
}

function readRefund({ id: eventId, data }: RawEvent): PackEvidence | null {
  const { amount, amount_refunded: refunded, payment_intent: paymentId } = read(charge, data.object);
  return paymentId ? { kind: 'refund', eventId, paymentId, refunded, amount } : null;
}

/**
 * Adds the credits that were bought, or takes back those of a refund that are not used. It may be applied again, and a refund
 * before its purchase.
 * @throws BillingFailure `unknown_plan`, `unknown_license`, `ended_license`; SERVICE_UNAVAILABLE; what the SDK throws.
 */
export async function applyPackEvidence(
  evidence: PackEvidence,
  { table, packs, months }: PackDeps,
  nowMs: number,
): Promise<'applied' | 'unchanged'> {
  const by: Actor = `billing:${evidence.eventId}`;
  if (evidence.kind === 'refund') {
    return (await takeBackExtraCredits(table, evidence, by, nowMs)) > 0 ? 'applied' : 'unchanged';
  }
  const { licenseId, paymentId, planId, paidAtMs } = evidence;
  const amount = Object.hasOwn(packs, planId) ? packs[planId] : undefined;
  if (amount === undefined) {
    throw new BillingFailure(
      'unknown_plan',
      "The session's metadata.plan is the id of no pack among the plans.",
    );
  }
  const expiresAtMs = extraCreditsExpireAtMs(paidAtMs, months);
  const pack = { licenseId, amount, source: 'pack', paymentId, reason: null, expiresAtMs } as const;
  const outcome = await addExtraCredits(table, pack, by, nowMs);
  // The reference is the buyer's own word, so it is not repeated.
  if (outcome === 'unknown_license') {
    throw new BillingFailure('unknown_license', "The session's client_reference_id is the id of no license.");
  }
  if (outcome === 'ended_license') {
    throw new BillingFailure('ended_license', `The license ${licenseId} has ended for good.`);
  }
  return outcome === 'added' ? 'applied' : 'unchanged';
}
