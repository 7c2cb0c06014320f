import { isDeepStrictEqual } from 'node:util';
import { ConditionalCheckFailedException, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import type { GenerationRef } from './worker-contract.ts';
import { fitsBudget } from '../licenses/credits.ts';
import { isFinal, type Generation, type GenerationFailure } from './generation.ts';
import { ServiceError, serviceBusy } from '../base/errors.ts';
import { pause } from '../table/backoff.ts';
import { fromItem } from './item.ts';
import {
  releaseItems,
  reserveItems,
  settleItems,
  type Completion,
  type IdempotencyClaim,
  type ReservationLimits,
} from './transactions.ts';
import { idempotencyRecordFromItem, type IdempotencyRecord } from './idempotency-store.ts';
import { generationPages } from './pages.ts';
import { countedInMs, countInPeriod } from './in-flight.ts';
import { committedName } from '../licenses/period-store.ts';
import { batchGet, getItem, listLeases, writeItem, type Item, type Table } from '../table/table.ts';
import { transact, type Refusal, type TransactItems } from '../table/transact.ts';
import { itemKeys, licenseIdOfGeneration } from '../table/keys.ts';

export type { Completion, IdempotencyClaim, ReservationLimits };
export type { GenerationRef };
export type { GenerationFilter } from './pages.ts';

export type Reservation =
  | { outcome: 'reserved' }
  | { outcome: 'over_limit' }
  /** The key's own budget has no room for it, although its license has. */
  | { outcome: 'over_key_budget' }
  /** As many requests of its license are in flight as may be. */
  | { outcome: 'too_many_in_flight' }
  /** Another request holds the idempotency key. */
  | { outcome: 'repeated'; idempotencyRecord: IdempotencyRecord };

/** Another run of the same request has begun it, or it has ended: this run must leave it alone. */
export class RunLost extends Error {
  override name = 'RunLost';
}

/** With what an end is tried. */
interface EndAttempt {
  /** The period that counts what is in flight; null where that must be looked up. */
  inFlightInMs: number | null;
  withIdempotencyRecord: boolean;
  period: Item | null;
}

const maxFinishAttempts = 4;
/** Beside these: each of the two parts of the credits that are told may be reached by others first, before and while it is tried. */
const maxNoticeRefusals = 5;
/** The first reservation of a period is refused once, until the period counts what is in flight. */
const maxReserveAttempts = 8;

export type GenerationStore = ReturnType<typeof generationStore>;

/** Reserve, start, then settle or release. Each is conditional on the state before it, so retries never do it twice. */
export function generationStore(table: Table) {
  const get = async (licenseId: string, requestId: string): Promise<Generation | null> => {
    const item = await getItem(table, itemKeys.generation(licenseId, requestId));
    return item && fromItem(item);
  };

  /** Ends a generation by a transaction. @returns the record as it ended, also when another process ended it. */
  const finish = async (
    ended: Generation,
    itemsFor: (inFlightInMs: number, withIdempotencyRecord: boolean, period: Item | null) => TransactItems,
  ): Promise<Generation> => {
    const { licenseId, periodStartMs } = ended;
    let next: EndAttempt = { inFlightInMs: periodStartMs, withIdempotencyRecord: true, period: null };
    let noticeRefusals = 0;
    let lastError: unknown;
    const send = async () => {
      const inFlightInMs = next.inFlightInMs ?? (await countedInMs(table, licenseId)) ?? periodStartMs;
      next = { ...next, inFlightInMs };
      return transact(table, itemsFor(inFlightInMs, next.withIdempotencyRecord, next.period));
    };
    const attempts = () => maxFinishAttempts + Math.min(noticeRefusals, maxNoticeRefusals);
    for (let attempt = 1; attempt <= attempts(); attempt++) {
      // The write may have been applied or not. Another attempt shows it: a record that has ended refuses a second end.
      const answer = await send().catch((error: unknown) => ({ error }));
      if (answer === null) return ended;
      if ('error' in answer) {
        lastError = answer.error;
        continue;
      }
      const stored = endedMeanwhile(answer);
      if (stored !== null) return stored;
      const change = afterRefusal(answer, next.inFlightInMs === periodStartMs);
      if (change.period) noticeRefusals += 1;
      next = { ...next, ...change };
      lastError = new Error(`the end was refused because of ${Object.keys(change)[0]}`);
    }
    throw lastError;
  };

  const tryToReserve = async (
    generation: Generation,
    limits: ReservationLimits,
    claim: IdempotencyClaim | null,
    isLate: () => boolean,
  ): Promise<Reservation> => {
    const { licenseId, requestId, periodStartMs, credits, keyId } = generation;
    const items = reserveItems(table.name, generation, limits, claim);
    for (let attempt = 1; attempt <= maxReserveAttempts; attempt++) {
      if (isLate()) throw serviceBusy(new Error('its deadline came before its credits were held'));
      // One token: a refused attempt that comes again, late, must not bring back what was deleted since.
      const refusal = await transact(table, items, requestId);
      if (refusal === null) return { outcome: 'reserved' };
      if (refusal.failed[1]) throw serviceBusy(new Error('the request id is taken'));
      if (refusal.failed[2])
        return { outcome: 'repeated', idempotencyRecord: idempotencyRecordFromItem(refusal.items[2]!) };
      const period = refusal.items[0];
      if ((period?.committed ?? 0) + credits > limits.creditsLimit) return { outcome: 'over_limit' };
      if (!fitsBudget(limits.keyBudget, period?.[committedName(keyId)] ?? 0, credits))
        return { outcome: 'over_key_budget' };
      if (period?.inFlight !== undefined) return { outcome: 'too_many_in_flight' };
      // Two handlers whose clocks differ may pull the count to and fro where two periods meet.
      if (attempt > 1) await pause(attempt);
      await countInPeriod(table, licenseId, periodStartMs);
    }
    throw serviceBusy(new Error('two periods count the requests in flight in turn'));
  };

  return {
    get,

    /**
     * Holds the credits and stores the request, in one transaction.
     * @param isLate says that its deadline has passed. No attempt begins then, because nothing would use the credits.
     * @throws SERVICE_UNAVAILABLE when it could not be stored. If the write is applied after that, the lease runs out.
     */
    async reserve(
      generation: Generation,
      limits: ReservationLimits,
      claim: IdempotencyClaim | null,
      isLate = () => false,
    ): Promise<Reservation> {
      if (generation.credits > limits.creditsLimit) return { outcome: 'over_limit' };
      try {
        return await tryToReserve(generation, limits, claim, isLate);
      } catch (error) {
        // An earlier attempt may have been applied although the last one failed.
        const stored = await get(generation.licenseId, generation.requestId).catch(() => null);
        if (isDeepStrictEqual(stored, generation)) return { outcome: 'reserved' };
        throw error instanceof ServiceError ? error : serviceBusy(error);
      }
    },

    /**
     * QUEUED → PROCESSING, by one run alone.
     * @param runId what the run calls itself.
     * @returns false when the generation was ended meanwhile, or another run has begun it.
     */
    async start(generation: GenerationRef, startedAtMs: number, runId: string): Promise<boolean> {
      try {
        const command = new UpdateItemCommand({
          TableName: table.name,
          Key: marshall(itemKeys.generation(generation.licenseId, generation.requestId)),
          UpdateExpression: 'SET #status = :processing, startedAtMs = :at, runId = :run',
          ConditionExpression: '#status = :queued',
          ExpressionAttributeNames: { '#status': 'status' },
          ExpressionAttributeValues: marshall({
            ':processing': 'PROCESSING',
            ':queued': 'QUEUED',
            ':at': startedAtMs,
            ':run': runId,
          }),
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        });
        // It may conflict with a release by the sweep.
        await writeItem(() => table.client.send(command));
        return true;
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
        // The SDK sends a write again whose answer was lost. The second then finds the first one's result.
        if (error.Item === undefined) return false;
        const stored = unmarshall(error.Item);
        return stored.status === 'PROCESSING' && stored.runId === runId;
      }
    },

    /** PROCESSING → COMPLETED, and its credits from held to used. */
    settle(generation: Generation, completion: Completion): Promise<Generation> {
      const ended: Generation = { ...generation, ...completion, status: 'COMPLETED', leaseUntilMs: 0 };
      return finish(ended, (inFlightInMs, _, period) => settleItems(table.name, ended, inFlightInMs, period));
    },

    /**
     * → FAILED or TIMEOUT: its credits and its idempotency key are free again.
     * @param runId the run that gives it up, or how the ids of several begin; left out by those who may end any.
     * @throws RunLost when another run has begun it.
     */
    release(
      generation: Generation,
      failure: GenerationFailure,
      atMs: number,
      runId: string | null = null,
    ): Promise<Generation> {
      const ended: Generation = { ...generation, ...failure, completedAtMs: atMs, leaseUntilMs: 0 };
      return finish(ended, (inFlightInMs, withIdempotencyRecord) =>
        releaseItems(table.name, ended, { countedInMs: inFlightInMs, withIdempotencyRecord, runId }),
      );
    },

    ...generationPages(table),

    /** One request, wherever among these licenses it is stored. */
    async find(licenseIds: string[], requestId: string): Promise<Generation | null> {
      for (let i = 0; i < licenseIds.length; i += 100) {
        const keys = licenseIds
          .slice(i, i + 100)
          .map((licenseId) => itemKeys.generation(licenseId, requestId));
        const found = (await batchGet(table, keys)).find((item) => item !== undefined);
        if (found) return fromItem(found);
      }
      return null;
    },

    /** Generations of one shard whose lease ended before an instant, oldest first. The index may be a moment late. */
    async listExpiredLeases(shard: string, beforeMs: number, limit: number): Promise<GenerationRef[]> {
      const keys = await listLeases(table, shard, beforeMs, limit);
      return keys.map((key) => ({ licenseId: licenseIdOfGeneration(key), requestId: key.SK }));
    },
  };
}

/**
 * The verdict on the record of a refused end, which no other attempt would change.
 * @returns the record if it has ended; null if it can still be ended.
 * @throws RunLost; an error where it has not begun or is not there.
 */
function endedMeanwhile({ failed: [ofRecord], items: [stored] }: Refusal): Generation | null {
  if (!ofRecord) return null;
  if (stored && isFinal(stored.status)) return fromItem(stored);
  if (stored?.status === 'PROCESSING') throw new RunLost('another run has begun it');
  throw new Error(`generation is ${stored?.status ?? 'missing'}: it can't be ended so`);
}

/** What the next attempt needs. @param isCounting whether the generation's own period was taken to count what is in flight */
function afterRefusal({ failed, items }: Refusal, isCounting: boolean): Partial<EndAttempt> {
  const [, ofPeriod, ofOther] = failed;
  const [, period = {}] = items;
  // The charges of others reach what is told to the owner.
  if (ofPeriod && (!isCounting || period.inFlight !== undefined)) return { period };
  // Its month is over, and another period counts what is in flight.
  if (isCounting ? ofPeriod : ofOther) return { inFlightInMs: null };
  // The key's 24 hours are over and a newer request has taken it, so this release must leave it alone.
  return { withIdempotencyRecord: false };
}
