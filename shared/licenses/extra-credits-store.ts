import { changesBetween, type Actor } from '../accounts/audit.ts';
import { isId } from '../base/ids.ts';
import { untilDecided } from '../table/backoff.ts';
import { itemKeys, ttlAttribute } from '../table/keys.ts';
import { batchGetAll, getItem, type Item, type Table } from '../table/table.ts';
import { transact, type Part } from '../table/transact.ts';
import { balanceName, listBalances } from './extra-credits.ts';
import { licenseEntry } from './store.ts';

/** Credits that a license has beside those of its periods: an operator's gift, or a pack that was paid for once. */
export interface NewExtraCredits {
  licenseId: string;
  amount: number;
  source: 'grant' | 'pack';
  /** The payment that bought a pack; for a gift, what its operator calls it. The same id adds once. */
  paymentId: string;
  /** Why an operator gives them, in words for operators; null for a pack. */
  reason: string | null;
  expiresAtMs: number;
}

/** A gift or a pack, as it stands. */
export interface ExtraCredits extends NewExtraCredits {
  addedAtMs: number;
  /** Taken back, as its payment was refunded; more than was left where some were used. */
  takenBack: number;
  /** Not used, held or taken back. */
  left: number;
}

/** What is stored of a payment: a purchase, what was refunded, or both, in whichever order they came. */
interface Payment {
  purchase?: NewExtraCredits & { addedAtMs: number };
  refunded?: number;
  amount?: number;
}

/** Each failed attempt is another change of the same payment or license in between. */
const maxAttempts = 10;

/** A refund of what bought no pack is forgotten: the purchase's event comes within days. */
const refundKeptDays = 90;

/**
 * Adds extra credits, once for a payment's id however often and however late it is called, also after the payment was refunded.
 * @throws an error when the payment's id can't be an id or stands for something else; SERVICE_UNAVAILABLE.
 */
export async function addExtraCredits(
  table: Table,
  given: NewExtraCredits,
  by: Actor,
  nowMs: number,
): Promise<'added' | 'added_before' | 'unknown_license' | 'ended_license'> {
  const { licenseId, amount, paymentId, expiresAtMs } = given;
  checkPaymentId(paymentId);
  if (!Number.isSafeInteger(amount) || amount < 1)
    throw new Error('extra credits must be a whole number from 1');
  if (!isId(licenseId)) return 'unknown_license';
  return untilDecided(maxAttempts, async () => {
    const [license, payment, balances] = await Promise.all([
      getItem(table, itemKeys.license(licenseId)),
      readPayment(table, paymentId),
      getItem(table, itemKeys.extraCredits(licenseId)),
    ]);
    if (license === null) return 'unknown_license';
    const before = payment.purchase;
    if (before !== undefined) {
      // What a pack sells may have changed since it was bought.
      const isSame = before.licenseId === licenseId && (before.amount === amount || given.source === 'pack');
      if (isSame) return 'added_before';
      throw new Error(`${paymentId} has added ${before.amount} credits to ${before.licenseId} already`);
    }
    // It is for good, so nobody could ever use them.
    if (license.status === 'ended') return 'ended_license';
    const next: Payment = { ...payment, purchase: { ...given, addedAtMs: nowMs } };
    const changes = changesBetween({}, { extraCreditsAdded: amount, creditedBecause: given.reason });
    const refusal = await transact<object>(table, [
      paymentPart(paymentId, payment, next),
      balancePart(licenseId, balanceName(expiresAtMs, paymentId), amount - takenBackOf(next)),
      pruned(licenseId, balances, nowMs),
      untilPart(license, expiresAtMs),
      licenseEntry(licenseId, { by, action: 'license_changed', changes }, nowMs),
    ]);
    return refusal === null ? 'added' : undefined;
  });
}

/**
 * Takes back the part of a pack that was refunded: floor(credits × refunded ÷ amount) in all, of its unused credits only. Events
 * may come in any order and repeatedly, also before `addExtraCredits`: the largest `refunded` counts. A payment that bought no
 * pack changes nothing.
 * @param refund `refunded` is the sum of all refunds of the payment (Stripe's `amount_refunded`), `amount` what was paid.
 * @returns the credits that are gone by this call, of those that were not used.
 */
export async function takeBackExtraCredits(
  table: Table,
  refund: { paymentId: string; refunded: number; amount: number },
  by: Actor,
  nowMs: number,
): Promise<number> {
  const { paymentId, refunded, amount } = refund;
  checkPaymentId(paymentId);
  const isRefund = [refunded, amount].every(Number.isSafeInteger) && refunded >= 0 && refunded <= amount;
  if (!isRefund) throw new Error(`of a payment of ${amount} there can't be ${refunded} refunded`);
  if (refunded === 0) return 0;
  return untilDecided(maxAttempts, async () => {
    const payment = await readPayment(table, paymentId);
    if ((payment.refunded ?? 0) >= refunded) return 0;
    const next = { ...payment, refunded, amount };
    const { purchase } = next;
    if (purchase === undefined) {
      const refusal = await transact<object>(table, [paymentPart(paymentId, payment, next, nowMs)]);
      return refusal === null ? 0 : undefined;
    }
    const { licenseId, expiresAtMs } = purchase;
    const name = balanceName(expiresAtMs, paymentId);
    const balances = await getItem(table, itemKeys.extraCredits(licenseId));
    const more = takenBackOf(next) - takenBackOf(payment);
    const gone = Math.min(more, Math.max(0, balances?.[name] ?? 0));
    const changes = changesBetween({}, { extraCreditsTakenBack: more });
    const taking = [
      balancePart(licenseId, name, -more),
      licenseEntry(licenseId, { by, action: 'license_changed', changes }, nowMs),
    ];
    const refusal = await transact<object>(table, [
      paymentPart(paymentId, payment, next),
      ...(more === 0 ? [] : taking),
    ]);
    return refusal === null ? gone : undefined;
  });
}

/** A license's gifts and packs that have not expired or were used up lately, those that expire first first. */
export async function listExtraCredits(table: Table, licenseId: string): Promise<ExtraCredits[]> {
  const balances = listBalances(await getItem(table, itemKeys.extraCredits(licenseId)));
  const items = await batchGetAll(
    table,
    balances.map(({ paymentId }) => itemKeys.purchase(paymentId)),
  );
  return balances.flatMap(({ left }, i) => {
    const payment = paymentOf(items[i]);
    if (payment.purchase === undefined) return [];
    return { ...payment.purchase, takenBack: takenBackOf(payment), left: Math.max(0, left) };
  });
}

function checkPaymentId(paymentId: string): void {
  if (!isId(paymentId))
    throw new Error('the id of a payment must be letters, digits, "_" and "-", at most 64');
}

/** In whole numbers, because a product may be larger than a number is exact. */
function takenBackOf({ purchase, refunded = 0, amount = 1 }: Payment): number {
  return purchase === undefined ? 0 : Number((BigInt(purchase.amount) * BigInt(refunded)) / BigInt(amount));
}

async function readPayment(table: Table, paymentId: string): Promise<Payment> {
  return paymentOf((await getItem(table, itemKeys.purchase(paymentId))) ?? {});
}

/** Without anything of what nothing is stored of. */
function paymentOf({ PK: _pk, SK: _sk, [ttlAttribute]: _ttl, ...payment }: Item = {}): Payment {
  return payment;
}

/** Writes a payment that is still as it was read. Each changes once by a purchase, and by each larger refund. */
function paymentPart(
  paymentId: string,
  read: Payment,
  next: Payment,
  forgottenFromMs: number | null = null,
): Part<object> {
  const expires = forgottenFromMs !== null && {
    [ttlAttribute]: Math.ceil(forgottenFromMs / 1000) + refundKeptDays * 24 * 3600,
  };
  const isAsRead = [
    read.purchase === undefined ? 'attribute_not_exists(purchase)' : 'attribute_exists(purchase)',
    read.refunded === undefined ? 'attribute_not_exists(refunded)' : 'refunded = :refunded',
  ];
  return {
    key: itemKeys.purchase(paymentId),
    put: { ...next, ...expires },
    condition: isAsRead.join(' AND '),
    ...(read.refunded !== undefined && { values: { ':refunded': read.refunded } }),
    refusal: () => ({}),
  };
}

function balancePart(licenseId: string, name: string, credits: number): Part<object> {
  return {
    key: itemKeys.extraCredits(licenseId),
    update: { ADD: '#balance :credits' },
    names: { '#balance': name },
    values: { ':credits': credits },
  };
}

/** Takes away what has expired and what is used up, so that the item stays small. A release makes its balance again. */
function pruned(licenseId: string, balances: Item | null, nowMs: number): Part<object> | null {
  const over = listBalances(balances).filter(({ expiresAtMs, left }) => expiresAtMs <= nowMs || left === 0);
  if (over.length === 0) return null;
  return {
    key: itemKeys.extraCredits(licenseId),
    update: { REMOVE: over.map((_, i) => `#over${i}`).join(', ') },
    condition: over.map((_, i) => `#over${i} = :over${i}`).join(' AND '),
    names: Object.fromEntries(over.map(({ name }, i) => [`#over${i}`, name])),
    values: Object.fromEntries(over.map(({ left }, i) => [`:over${i}`, left])),
    refusal: () => ({}),
  };
}

/** The license says how long it may have extra credits, so that others need no read to know that there are none. */
function untilPart({ licenseId, extraUntilMs: read = null }: Item, expiresAtMs: number): Part<object> {
  return {
    key: itemKeys.license(licenseId),
    update: { SET: 'extraUntilMs = :until' },
    condition:
      read === null
        ? 'attribute_exists(PK) AND (attribute_not_exists(extraUntilMs) OR extraUntilMs = :read)'
        : 'extraUntilMs = :read',
    values: { ':until': Math.max(read ?? 0, expiresAtMs), ':read': read },
    refusal: () => ({}),
  };
}
