import { ConditionalCheckFailedException, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import type { GenerationRef } from './queue-contract.ts';
import type { Generation, GenerationFailure } from './generation.ts';
import type { UnpaidReason } from '../base/errors.ts';
import { fromItem } from './item.ts';
import { completeRecord, endedByAnother, failRecord } from './record-part.ts';
import { reserveGeneration } from './reserve.ts';
import { chargeCredits, returnCredits, returnExtra } from './credits-part.ts';
import { returnKeyBudget } from './key-budget-part.ts';
import { countCharge } from './statistics-part.ts';
import { countUnpaid, forgiveUnpaid } from './unpaid-part.ts';
import { leaveFlight, readInFlightPeriodStartMs } from './in-flight.ts';
import { freeIdempotencyKey } from './idempotency-store.ts';
import type { UnpaidRun } from '../licenses/unpaid-runs.ts';
import { notifyOwner } from '../licenses/notification-part.ts';
import { generationPages } from './pages.ts';
import { batchGet, getItem, listLeases, writeIf, writeItem, type Item, type Table } from '../table/table.ts';
import { transact, type Parts } from '../table/transact.ts';
import { itemKeys, licenseIdOfGeneration } from '../table/keys.ts';

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

type AllButFirst<Args extends unknown[]> = Args extends [unknown, ...infer Rest] ? Rest : never;

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

  return {
    get,

    reserve: (...request: AllButFirst<Parameters<typeof reserveGeneration>>) =>
      reserveGeneration(table, ...request),

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
        returnExtra(ended),
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
