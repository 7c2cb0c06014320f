import type { Actor } from '../accounts/audit.ts';
import type { Table } from '../table/table.ts';

/** Credits that a license has beside those of its periods: an operator's gift, or a pack that was paid for once. */
export interface NewExtraCredits {
  licenseId: string;
  amount: number;
  source: 'grant' | 'pack';
  /** The payment that bought a pack; for a gift, what its operator calls the request to give it. The same id adds once. */
  paymentId: string;
  /** Why an operator gives them, in words for operators; null for a pack. */
  reason: string | null;
  expiresAtMs: number;
}

/**
 * Adds extra credits, once for a payment's id however often and however late it is called, also after the payment was refunded.
 * @throws an error when the payment's id cannot be an id, or SERVICE_UNAVAILABLE.
 */
export async function addExtraCredits(
  _table: Table,
  _given: NewExtraCredits,
  _by: Actor,
  _nowMs: number,
): Promise<'added' | 'added_before' | 'unknown_license'> {
  throw new Error('not yet');
}

/**
 * Takes back the part of a pack that was refunded: floor(credits × refunded ÷ amount) in all, of its unused credits only. Events may come
 * in any order and repeatedly, also before `addExtraCredits`: the largest `refunded` counts. A payment that bought no pack changes
 * nothing.
 * @param refund `refunded` is the sum of all refunds of the payment (Stripe's `amount_refunded`), `amount` what was paid.
 * @returns the credits that are gone by this call.
 */
export async function takeBackExtraCredits(
  _table: Table,
  _refund: { paymentId: string; refunded: number; amount: number },
  _by: Actor,
  _nowMs: number,
): Promise<number> {
  throw new Error('not yet');
}
