import { isDeepStrictEqual } from 'node:util';
import { ServiceError, serviceBusy } from '../base/errors.ts';
import { chooseExtra, neededExtra } from '../licenses/extra-credits.ts';
import type { UnpaidRefusal } from '../licenses/unpaid-runs.ts';
import { pause } from '../table/backoff.ts';
import { itemKeys } from '../table/keys.ts';
import { getItem, type Item, type Table } from '../table/table.ts';
import { transact } from '../table/transact.ts';
import { holdCredits, takeExtra, type OverLimit } from './credits-part.ts';
import type { Generation } from './generation.ts';
import { takeIdempotencyKey, type IdempotencyRecord } from './idempotency-store.ts';
import { countInPeriod, enterFlight, enterKeyFlight } from './in-flight.ts';
import { fromItem } from './item.ts';
import { holdKeyBudget } from './key-budget-part.ts';
import { insertRecord, type StoredBeside } from './record-part.ts';
import { refuseUnpaid } from './unpaid-part.ts';

/** What a license and a key allow, as they were read when the request was checked. */
export interface ReservationLimits {
  creditsLimit: number;
  /** Credits of a month that the key may use; null for a key without a budget, and for the playground. */
  keyBudget: number | null;
  maxInFlight: number;
  /** Requests of the key; null for a key without such a limit. @default null */
  keyMaxInFlight?: number | null;
  /** Whether its license may have extra credits. @default false */
  mayHaveExtra?: boolean;
}

export type Reserved =
  /** `fromExtra` as in the stored request, where extra credits pay for a part of it. */
  | { outcome: 'reserved'; fromExtra?: Record<string, number> }
  | { outcome: 'over_limit' }
  /** The key's own budget has no room for it, although its license has. */
  | { outcome: 'over_key_budget' }
  /** As many requests of its license are in flight as may be. */
  | { outcome: 'too_many_in_flight' }
  /** The same of its key, which may have fewer. */
  | { outcome: 'too_many_of_key_in_flight' }
  /** Another try of the same request has taken its place. */
  | { outcome: 'overtaken' }
  /** The model was called too often for requests of its license that nobody paid for. */
  | { outcome: 'too_many_unpaid'; refusal: UnpaidRefusal }
  /** Another request holds the idempotency key. */
  | { outcome: 'repeated'; idempotencyRecord: IdempotencyRecord };

type Refusal =
  | Exclude<Reserved, { outcome: 'reserved' } | { outcome: 'over_limit' }>
  | OverLimit
  | { outcome: 'id_taken' }
  | { outcome: 'counted_elsewhere' }
  | { outcome: 'extra_taken' };

/** What pays for a request. */
interface Payment {
  fromExtra: Record<string, number> | null;
  /** What extra credits pay for in its period, as it was found; null before it was looked at. */
  known: number | null;
}

/**
 * The first reservation of a period is refused once, until the period counts what is in flight, and one that needs extra credits
 * until it has looked at them.
 */
const maxAttempts = 8;

/**
 * Holds the credits and stores the request, in one transaction.
 * @param bodyHash of the body that its idempotency key stands for from now on.
 * @param isLate says that its deadline has passed. No attempt begins then, because nothing would use the credits.
 * @throws SERVICE_UNAVAILABLE when it could not be stored. If the write is applied after that, the sweep gives
 *   the credits back when the lease is over.
 */
export async function reserveGeneration(
  table: Table,
  generation: Generation,
  limits: ReservationLimits,
  bodyHash: string,
  isLate = () => false,
  beside: StoredBeside | null = null,
): Promise<Reserved> {
  const { creditsLimit, keyBudget, maxInFlight, keyMaxInFlight = null, mayHaveExtra = false } = limits;
  if (generation.credits > creditsLimit && !mayHaveExtra) return { outcome: 'over_limit' };
  // Of several parts that refuse, the first decides: a repeat is seen before a limit.
  const partsOf = ({ fromExtra, known }: Payment) => {
    const paid = { ...generation, fromExtra };
    return [
      insertRecord(paid),
      takeIdempotencyKey(paid, bodyHash),
      beside,
      holdCredits(paid, creditsLimit, known),
      takeExtra(paid),
      holdKeyBudget(paid, keyBudget),
      refuseUnpaid(paid),
      enterFlight(paid, maxInFlight),
      enterKeyFlight(paid, keyMaxInFlight),
    ];
  };
  try {
    return await tryToReserve(table, generation, limits, partsOf, isLate);
  } catch (error) {
    // An earlier attempt may have been applied although the last one failed.
    const item = await getItem(table, itemKeys.generation(generation.licenseId, generation.requestId)).catch(
      () => null,
    );
    const stored = item && fromItem(item);
    const isOwn = isDeepStrictEqual(stored && { ...stored, fromExtra: null }, generation);
    if (isOwn) return reserved(stored!);
    throw error instanceof ServiceError ? error : serviceBusy(error);
  }
}

async function tryToReserve(
  table: Table,
  generation: Generation,
  limits: ReservationLimits,
  partsOf: (payment: Payment) => Parameters<typeof transact<Refusal>>[1],
  isLate: () => boolean,
): Promise<Reserved> {
  const { licenseId, requestId, periodStartMs } = generation;
  let payment: Payment = { fromExtra: null, known: null };
  let period: Item | undefined;
  let payments = 0;
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    if (isLate()) throw serviceBusy(new Error('its deadline came before its credits were held'));
    const refusal = await transact(table, partsOf(payment), tokenOf(requestId, payments));
    if (refusal === null) return reserved(payment);
    if (refusal.outcome === 'id_taken') throw serviceBusy(new Error('the request id is taken'));
    if (refusal.outcome === 'over_limit' || refusal.outcome === 'extra_taken') {
      if ('period' in refusal) period = refusal.period;
      const next = await findPayment(table, generation, period ?? {}, limits);
      if (next === null) return { outcome: 'over_limit' };
      if (payments > 0) await pause(attempt);
      payments += 1;
      payment = next;
      continue;
    }
    if (refusal.outcome !== 'counted_elsewhere') return refusal;
    // Two handlers whose clocks differ may pull the count to and fro where two periods meet.
    if (attempt > 1) await pause(attempt);
    await countInPeriod(table, licenseId, periodStartMs);
  }
  throw serviceBusy(
    new Error('others of the license take its credits, or two periods count its requests, in turn'),
  );
}

/**
 * One token for each way to pay: a copy of an attempt that the network brings late must not store the request again after
 * it was deleted. With another payment it is another transaction, which may not have the token of the first (Amazon
 * DynamoDB API Reference, TransactWriteItems, "IdempotentParameterMismatchException").
 */
const tokenOf = (requestId: string, payments: number) =>
  payments === 0 ? requestId : `${requestId.replaceAll('-', '')}-${payments}`;

const reserved = ({ fromExtra }: Pick<Generation, 'fromExtra'>): Reserved =>
  fromExtra === null ? { outcome: 'reserved' } : { outcome: 'reserved', fromExtra };

/** What can pay for a request: the period's own credits first; null where all together do not suffice. */
async function findPayment(
  table: Table,
  { licenseId, credits, createdAtMs }: Generation,
  { committed = 0, fromExtra: known = 0 }: Item,
  { creditsLimit, mayHaveExtra = false }: ReservationLimits,
): Promise<Payment | null> {
  const needed = neededExtra(credits, { committed, fromExtra: known }, creditsLimit);
  if (needed === 0) return { fromExtra: null, known };
  if (!mayHaveExtra) return null;
  const balances = await getItem(table, itemKeys.extraCredits(licenseId));
  const fromExtra = chooseExtra(balances, needed, createdAtMs);
  return fromExtra && { fromExtra, known };
}
