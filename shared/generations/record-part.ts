import { isFinal, type Generation } from './generation.ts';
import { fromItem, toItem } from './item.ts';
import { itemKeys, leaseIndex } from '../table/keys.ts';
import type { Item } from '../table/table.ts';
import type { Part } from '../table/transact.ts';

/** Another run of the same request has begun it, or it has ended: this run must leave it alone. */
export class RunLost extends Error {
  override name = 'RunLost';
}

/** It had ended, mostly because it was cancelled, and nothing of it is stored any more. */
export class RunDeleted extends RunLost {}

/** A part of one reservation beside those that all have. */
export type StoredBeside = Part<{ outcome: 'overtaken' }>;

/** A record that could not be ended, as it is stored. */
type StoredRecord = { stored: Item | undefined };

export function insertRecord(generation: Generation): Part<{ outcome: 'id_taken' }> {
  const { licenseId, requestId } = generation;
  return {
    key: itemKeys.generation(licenseId, requestId),
    put: toItem(generation),
    condition: 'attribute_not_exists(PK)',
    refusal: () => ({ outcome: 'id_taken' }),
  };
}

/** PROCESSING → COMPLETED */
export function completeRecord(ended: Generation): Part<StoredRecord> {
  const { completedAtMs, previews, referenceImagesUsed, modelVersion } = ended;
  const results = { completedAtMs, previews, referenceImagesUsed, modelVersion };
  return endRecord(ended, results, '#status = :processing', { ':processing': 'PROCESSING' });
}

/**
 * QUEUED or PROCESSING → FAILED or TIMEOUT
 * @param runId the run that gives the request up: one that another run has begun is left alone. Null where any may be ended.
 */
export function failRecord(ended: Generation, runId: string | null): Part<StoredRecord> {
  const { completedAtMs, errorMessage, errorCode } = ended;
  const isOpen = '#status IN (:queued, :processing)';
  const isOwn = 'AND (attribute_not_exists(runId) OR runId = :run)';
  return endRecord(
    ended,
    { completedAtMs, errorMessage, errorCode },
    runId === null ? isOpen : `${isOpen} ${isOwn}`,
    { ':queued': 'QUEUED', ':processing': 'PROCESSING', ...(runId !== null && { ':run': runId }) },
  );
}

/** Writes a final state, and takes the record out of the lease index. */
function endRecord(
  ended: Generation,
  results: Partial<Generation>,
  condition: string,
  conditionValues: Record<string, string>,
): Part<StoredRecord> {
  const set = Object.keys(results).map((name) => `${name} = :${name}`);
  return {
    key: itemKeys.generation(ended.licenseId, ended.requestId),
    update: {
      SET: ['#status = :status', ...set].join(', '),
      REMOVE: `${leaseIndex.partition}, ${leaseIndex.sort}`,
    },
    condition,
    names: { '#status': 'status' },
    values: {
      ':status': ended.status,
      ...Object.fromEntries(Object.entries(results).map(([name, value]) => [`:${name}`, value])),
      ...conditionValues,
    },
    refusal: (stored) => ({ stored }),
  };
}

/**
 * What became of a record that could not be ended. Another attempt would find the same.
 * @returns the record as somebody else ended it.
 * @throws RunLost, RunDeleted; an error where it has not begun.
 */
export function endedByAnother({ stored }: StoredRecord): Generation {
  if (stored && isFinal(stored.status)) return fromItem(stored);
  if (stored === undefined) throw new RunDeleted('it has ended, and was deleted');
  if (stored.status === 'PROCESSING') throw new RunLost('another run has begun it');
  throw new Error(`generation is ${stored.status}: it can't be ended so`);
}
