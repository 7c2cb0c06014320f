import { isDeepStrictEqual } from 'node:util';
import { ConditionalCheckFailedException, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import type { GenerationRef } from './queue-contract.ts';
import type { Generation, GenerationFailure } from './generation.ts';
import { ServiceError, serviceBusy, type UnpaidReason } from '../base/errors.ts';
import { pause } from '../table/backoff.ts';
import { fromItem } from './item.ts';
import { completeRecord, endedByAnother, failRecord, insertRecord } from './record-part.ts';
import type { StoredBeside } from './record-part.ts';
import { chargeCredits, holdCredits, returnCredits } from './credits-part.ts';
import { holdKeyBudget, returnKeyBudget } from './key-budget-part.ts';
import { countCharge } from './statistics-part.ts';
import { countUnpaid, forgiveUnpaid, refuseUnpaid } from './unpaid-part.ts';
import {
  countInPeriod,
  enterFlight,
  enterKeyFlight,
  leaveFlight,
  readInFlightPeriodStartMs,
} from './in-flight.ts';
import { freeIdempotencyKey, takeIdempotencyKey, type IdempotencyRecord } from './idempotency-store.ts';
import type { UnpaidRefusal, UnpaidRun } from '../licenses/unpaid-runs.ts';
import { notifyOwner } from '../licenses/notification-part.ts';
import { generationPages } from './pages.ts';
import { batchGet, getItem, listLeases, writeIf, writeItem, type Item, type Table } from '../table/table.ts';
import { transact, type Parts } from '../table/transact.ts';
import { itemKeys, licenseIdOfGeneration } from '../table/keys.ts';

/** What a license and a key allow, as they were read when the request was checked. */
export interface ReservationLimits {
  creditsLimit: number;
  /** Credits of a month that the key may use; null for a key without a budget, and for the playground. */
  keyBudget: number | null;
  maxInFlight: number;
  /** Requests of the key; null for a key without such a limit. @default null */
  keyMaxInFlight?: number | null;
}

export type Reserved =
  | { outcome: 'reserved' }
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

/** What the model's answer adds to the record. */
export type Completion = Pick<Generation, 'previews' | 'referenceImagesUsed' | 'modelVersion'> & {
  completedAtMs: number;
};

/** What an attempt to end a request takes for granted. A refusal corrects it for the next one. */
interface Assumptions {
  /** The period that counts what is in flight; null where that must be looked up. */
  inFlightPeriodStartMs: number | null;
  ownsIdempotencyKey: boolean;
  /** The request's period as an attempt found it; null before the first. */
  period: Item | null;
  /** The license's unpaid runs as an attempt found them; null before the first, and 'contended' where they are left alone. */
  unpaidRuns: UnpaidRun[] | null | 'contended';
}

type ReserveRefusal = Reserved | { outcome: 'id_taken' } | { outcome: 'counted_elsewhere' };
type EndRefusal =
  | { stored: Item | undefined }
  | { inFlightPeriodStartMs: null }
  | { ownsIdempotencyKey: false }
  | { period: Item }
  | { unpaidRuns: UnpaidRun[] };

const maxEndAttempts = 4;
/** Beside these: other charges may reach the two thresholds of notifications first. `used` and `told` only rise, so this is enough. */
const maxThresholdRefusals = 5;
/** And others may change the unpaid runs first. After so many refusals a request ends without a change of them: money goes first. */
const maxUnpaidRefusals = 10;
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
  const end = async (
    ended: Generation,
    makeParts: (inFlightPeriodStartMs: number, assumed: Assumptions) => Parts<EndRefusal>,
  ): Promise<Generation> => {
    const { licenseId, periodStartMs } = ended;
    let assumed: Assumptions = {
      inFlightPeriodStartMs: periodStartMs,
      ownsIdempotencyKey: true,
      period: null,
      unpaidRuns: null,
    };
    let thresholdRefusals = 0;
    let unpaidRefusals = 0;
    let lastError: unknown;
    const send = async () => {
      assumed.inFlightPeriodStartMs ??= (await readInFlightPeriodStartMs(table, licenseId)) ?? periodStartMs;
      return transact(table, makeParts(assumed.inFlightPeriodStartMs, assumed));
    };
    const attempts = () =>
      maxEndAttempts + Math.min(thresholdRefusals, maxThresholdRefusals) + unpaidRefusals;
    for (let attempt = 1; attempt <= attempts(); attempt++) {
      // The write may have been applied or not. Another attempt shows it: a record that has ended refuses a second end.
      const refusal = await send().catch((error: unknown) => ({ error }));
      if (refusal === null) return ended;
      if ('error' in refusal) {
        lastError = refusal.error;
        continue;
      }
      if ('stored' in refusal) return endedByAnother(refusal);
      if ('period' in refusal) thresholdRefusals += 1;
      if ('unpaidRuns' in refusal) unpaidRefusals += 1;
      assumed = { ...assumed, ...refusal };
      if (unpaidRefusals === maxUnpaidRefusals) assumed.unpaidRuns = 'contended';
      lastError = new Error(`the end was refused because of ${Object.keys(refusal)[0]}`);
    }
    throw lastError;
  };

  const tryToReserve = async (
    { licenseId, requestId, periodStartMs }: Generation,
    parts: Parts<ReserveRefusal>,
    isLate: () => boolean,
  ): Promise<Reserved> => {
    for (let attempt = 1; attempt <= maxReserveAttempts; attempt++) {
      if (isLate()) throw serviceBusy(new Error('its deadline came before its credits were held'));
      // One token: a copy of an attempt that the network brings late must not store the request again after it was deleted.
      const refusal = await transact(table, parts, requestId);
      if (refusal === null) return { outcome: 'reserved' };
      if (refusal.outcome === 'id_taken') throw serviceBusy(new Error('the request id is taken'));
      if (refusal.outcome !== 'counted_elsewhere') return refusal;
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
     * @param bodyHash of the body that its idempotency key stands for from now on.
     * @param isLate says that its deadline has passed. No attempt begins then, because nothing would use the credits.
     * @throws SERVICE_UNAVAILABLE when it could not be stored. If the write is applied after that, the sweep gives
     *   the credits back when the lease is over.
     */
    async reserve(
      generation: Generation,
      limits: ReservationLimits,
      bodyHash: string,
      isLate = () => false,
      beside: StoredBeside | null = null,
    ): Promise<Reserved> {
      const { creditsLimit, keyBudget, maxInFlight, keyMaxInFlight = null } = limits;
      if (generation.credits > creditsLimit) return { outcome: 'over_limit' };
      // Of several parts that refuse, the first decides: a repeat is seen before a limit.
      const parts = [
        insertRecord(generation),
        takeIdempotencyKey(generation, bodyHash),
        beside,
        holdCredits(generation, creditsLimit),
        holdKeyBudget(generation, keyBudget),
        refuseUnpaid(generation),
        enterFlight(generation, maxInFlight),
        enterKeyFlight(generation, keyMaxInFlight),
      ];
      try {
        return await tryToReserve(generation, parts, isLate);
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

    /** One of its calls began a cold start of the model. What has begun or ended needs no note. */
    async noteColdStart({ licenseId, requestId }: GenerationRef): Promise<void> {
      const command = new UpdateItemCommand({
        TableName: table.name,
        Key: marshall(itemKeys.generation(licenseId, requestId)),
        UpdateExpression: 'SET beganColdStart = :true',
        ConditionExpression: '#status = :queued',
        ExpressionAttributeNames: { '#status': 'status' },
        ExpressionAttributeValues: marshall({ ':true': true, ':queued': 'QUEUED' }),
      });
      await writeIf(() => table.client.send(command));
    },

    /** PROCESSING → COMPLETED, and its credits from held to used. */
    settle(generation: Generation, completion: Completion): Promise<Generation> {
      const ended: Generation = { ...generation, ...completion, status: 'COMPLETED', leaseUntilMs: 0 };
      return end(ended, (inFlightPeriodStartMs, { period, unpaidRuns }) => [
        completeRecord(ended),
        chargeCredits(ended),
        countCharge(ended),
        leaveFlight(ended, inFlightPeriodStartMs),
        forgiveUnpaid(ended, unpaidRuns, inFlightPeriodStartMs),
        ...notifyOwner(ended, period),
      ]);
    },

    /**
     * → FAILED or TIMEOUT: its credits and its idempotency key are free again.
     * @param runId the run that gives it up; left out by those who may end any.
     * @param unpaid why it counts for its license as a run that nobody paid for; null where that is no fault of its caller's.
     * @throws RunLost when another run has begun it.
     */
    release(
      generation: Generation,
      failure: GenerationFailure,
      atMs: number,
      runId: string | null = null,
      unpaid: UnpaidReason | null = null,
    ): Promise<Generation> {
      const ended: Generation = { ...generation, ...failure, completedAtMs: atMs, leaseUntilMs: 0 };
      return end(ended, (inFlightPeriodStartMs, { ownsIdempotencyKey, unpaidRuns }) => [
        failRecord(ended, runId),
        returnCredits(ended),
        returnKeyBudget(ended),
        leaveFlight(ended, inFlightPeriodStartMs),
        countUnpaid(ended, unpaid, unpaidRuns, inFlightPeriodStartMs),
        ownsIdempotencyKey ? freeIdempotencyKey(ended) : null,
      ]);
    },

    ...generationPages(table),

    /** One request, wherever among these licenses it is stored. */
    async find(licenseIds: string[], requestId: string): Promise<Generation | null> {
      for (let i = 0; i < licenseIds.length; i += 100) {
        const some = licenseIds.slice(i, i + 100);
        const keys = some.map((licenseId) => itemKeys.generation(licenseId, requestId));
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
