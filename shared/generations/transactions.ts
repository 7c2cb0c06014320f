import { idempotencyHours } from './idempotency.ts';
import type { Generation } from './generation.ts';
import { toItem } from './item.ts';
import { noticeWrite, pendingNotice } from '../licenses/notification-transactions.ts';
import { committedName, tallyNames } from '../licenses/period-store.ts';
import type { Item } from '../table/table.ts';
import type { TransactItems } from '../table/transact.ts';
import { itemKeys, leaseIndex, ttlAttribute, type ItemKey } from '../table/keys.ts';

/** What is stored of the model's answer. */
export interface Completion {
  completedAtMs: number;
  /** Which outputs have a preview. */
  previews: boolean[];
  referenceImagesUsed: number;
  modelVersion: string;
}

/** What is stored with an idempotency key that a reservation takes. */
export interface IdempotencyClaim {
  bodyHash: string;
}

type TransactItem = TransactItems[number];

/** What a license and a key allow, as they were read when the request was checked. */
export interface ReservationLimits {
  creditsLimit: number;
  /** Credits of a month that the key may use; null for a key without a budget, and for the playground. */
  keyBudget: number | null;
  maxInFlight: number;
}

/**
 * The reservation: [0] the period's credits and the license's requests in flight, [1] the record, [2] the idempotency key. Conditions have no arithmetic,
 * so `used + held + credits <= limit` is written as `committed <= limit - credits` on the one number that is both. Only the
 * period that counts what is in flight has `inFlight` (see in-flight.ts). What the key has committed is counted in the same
 * item, and its budget is held in the same way.
 */
export function reserveItems(
  TableName: string,
  generation: Generation,
  { creditsLimit, keyBudget, maxInFlight }: ReservationLimits,
  claim: IdempotencyClaim | null,
): TransactItems {
  const { licenseId, credits, periodStartMs } = generation;
  const items: TransactItems = [
    {
      Update: {
        TableName,
        Key: itemKeys.period(licenseId, periodStartMs),
        UpdateExpression: 'ADD committed :credits, inFlight :one, #byKey :credits',
        ConditionExpression: `committed <= :room AND inFlight < :most${withinBudget(generation, keyBudget)}`,
        ExpressionAttributeNames: { '#byKey': committedName(generation.keyId) },
        ExpressionAttributeValues: {
          ':credits': credits,
          ':one': 1,
          ':room': creditsLimit - credits,
          ':most': maxInFlight,
          ...(keyBudget !== null && { ':keyRoom': keyBudget - credits }),
        },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      },
    },
    {
      Put: {
        TableName,
        Item: toItem(generation),
        ConditionExpression: 'attribute_not_exists(PK)',
      },
    },
  ];
  if (claim !== null && generation.idempotencyKeyHash !== null) {
    const Key = itemKeys.idempotencyRecord(generation.keyId, generation.idempotencyKeyHash);
    items.push(takeIdempotencyKey(TableName, Key, generation, claim));
  }
  return items;
}

/** The condition on a key's own number, which its first request of a period does not find. */
function withinBudget({ credits }: Generation, keyBudget: number | null): string {
  if (keyBudget === null) return '';
  // One that costs more than the whole budget must not pass where there is no number.
  return credits > keyBudget
    ? ' AND #byKey <= :keyRoom'
    : ' AND (attribute_not_exists(#byKey) OR #byKey <= :keyRoom)';
}

function takeIdempotencyKey(
  TableName: string,
  key: ItemKey,
  { requestId, createdAtMs }: Generation,
  { bodyHash }: IdempotencyClaim,
): TransactItem {
  const expiresAtMs = createdAtMs + idempotencyHours * 3600 * 1000;
  return {
    Put: {
      TableName,
      Item: { ...key, requestId, bodyHash, expiresAtMs, [ttlAttribute]: Math.ceil(expiresAtMs / 1000) },
      ConditionExpression: 'attribute_not_exists(PK) OR expiresAtMs <= :now',
      ExpressionAttributeValues: { ':now': createdAtMs },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  };
}

/**
 * The charge: [0] the record from PROCESSING to COMPLETED, then `endInPeriods` with its period's used credits and
 * statistics, and last the notice for its owner when the charge reaches a part of the credits that is told.
 * @param period its period as an earlier attempt found it.
 */
export function settleItems(
  TableName: string,
  ended: Generation,
  countedInMs: number,
  period: Item | null = null,
): TransactItems {
  const completedAtMs = ended.completedAtMs!;
  const keyId = ended.countedByKey ? ended.keyId : null;
  const tallies = tallyNames({
    type: ended.type,
    identityId: ended.identity.id,
    completedAtMs,
    keyId,
  }).flat();
  const notice = noticeWrite(ended, period);
  const percent = notice?.percent ?? null;
  return [
    endRecord(TableName, ended, ['PROCESSING'], {
      completedAtMs,
      previews: ended.previews,
      referenceImagesUsed: ended.referenceImagesUsed,
      modelVersion: ended.modelVersion,
    }),
    ...endInPeriods(TableName, ended, countedInMs, {
      adds: `used :credits, ${tallies.map((name, i) => `#t${i} ${name.endsWith('#n') ? ':one' : ':credits'}`).join(', ')}`,
      ...(percent !== null && { sets: 'told = :told' }),
      ...(notice !== null && { condition: notice.condition }),
      ExpressionAttributeNames: Object.fromEntries(tallies.map((name, i) => [`#t${i}`, name])),
      ExpressionAttributeValues: {
        ':credits': ended.credits,
        ':one': 1,
        ...notice?.values,
        ...(percent !== null && { ':told': percent }),
      },
    }),
    ...(percent === null ? [] : [pendingNotice(TableName, ended, percent)]),
  ];
}

export interface ReleaseOptions {
  countedInMs: number;
  withIdempotencyRecord: boolean;
  /** The run that gives the request up, or how the ids of several begin; null where it may be ended whoever has begun it. */
  runId: string | null;
}

/**
 * The release: [0] the record to FAILED or TIMEOUT, then `endInPeriods` with its period's held credits, and last its
 * idempotency key.
 */
export function releaseItems(
  TableName: string,
  ended: Generation,
  { countedInMs, withIdempotencyRecord, runId }: ReleaseOptions,
): TransactItems {
  const items: TransactItems = [
    ofRun(
      runId,
      endRecord(TableName, ended, ['QUEUED', 'PROCESSING'], {
        completedAtMs: ended.completedAtMs,
        errorMessage: ended.errorMessage,
        errorCode: ended.errorCode,
      }),
    ),
    ...endInPeriods(TableName, ended, countedInMs, {
      // A request that was accepted before there were counts by key has nothing to take back from one.
      ...(ended.countedByKey
        ? {
            adds: 'committed :credits, #byKey :credits',
            ExpressionAttributeNames: { '#byKey': committedName(ended.keyId) },
          }
        : { adds: 'committed :credits' }),
      ExpressionAttributeValues: { ':credits': -ended.credits },
    }),
  ];
  if (withIdempotencyRecord && ended.idempotencyKeyHash !== null) {
    items.push({
      Delete: {
        TableName,
        Key: itemKeys.idempotencyRecord(ended.keyId, ended.idempotencyKeyHash),
        ConditionExpression: 'attribute_not_exists(PK) OR requestId = :requestId',
        ExpressionAttributeValues: { ':requestId': ended.requestId },
      },
    });
  }
  return items;
}

/** The change of a record, unless another run than this one has begun it. */
function ofRun(runId: string | null, { Update }: TransactItem): TransactItem {
  if (runId === null) return { Update };
  return {
    Update: {
      ...Update!,
      ConditionExpression: `${Update!.ConditionExpression} AND (attribute_not_exists(runId) OR begins_with(runId, :run))`,
      ExpressionAttributeValues: { ...Update!.ExpressionAttributeValues, ':run': runId },
    },
  };
}

interface PeriodChange {
  /** For ADD. */
  adds: string;
  /** For SET. */
  sets?: string;
  /** Of the period that the request belongs to. A refusal shows the period. */
  condition?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues: Record<string, number>;
}

/**
 * One change of the period that a request belongs to, and one request less in flight. Nearly always the same period
 * counts both. After the period's end another counts what is in flight, and a second item is written.
 */
function endInPeriods(
  TableName: string,
  { licenseId, periodStartMs }: Generation,
  countedInMs: number,
  { adds, sets, condition, ExpressionAttributeNames, ExpressionAttributeValues }: PeriodChange,
): TransactItems {
  const setting = sets === undefined ? '' : `SET ${sets} `;
  const own = {
    TableName,
    Key: itemKeys.period(licenseId, periodStartMs),
    ...(ExpressionAttributeNames && { ExpressionAttributeNames }),
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  } as const;
  const less = { ':less': -1 };
  const counts = 'attribute_exists(inFlight)';
  if (countedInMs === periodStartMs) {
    const Update = {
      ...own,
      UpdateExpression: `${setting}ADD ${adds}, inFlight :less`,
      ConditionExpression: condition === undefined ? counts : `${counts} AND ${condition}`,
      ExpressionAttributeValues: { ...ExpressionAttributeValues, ...less },
    };
    return [{ Update }];
  }
  const Update = {
    ...own,
    UpdateExpression: `${setting}ADD ${adds}`,
    ...(condition !== undefined && { ConditionExpression: condition }),
    ExpressionAttributeValues,
  };
  const counting = {
    TableName,
    Key: itemKeys.period(licenseId, countedInMs),
    UpdateExpression: 'ADD inFlight :less',
    ConditionExpression: counts,
    ExpressionAttributeValues: less,
  };
  return [{ Update }, { Update: counting }];
}

/** Writes a final state, and takes the record out of the lease index. */
function endRecord(
  TableName: string,
  ended: Generation,
  from: Generation['status'][],
  values: Record<string, unknown>,
): TransactItem {
  const names = Object.keys(values);
  return {
    Update: {
      TableName,
      Key: itemKeys.generation(ended.licenseId, ended.requestId),
      UpdateExpression: `SET #status = :status, ${names.map((name) => `${name} = :${name}`).join(', ')} REMOVE ${leaseIndex.partition}, ${leaseIndex.sort}`,
      ConditionExpression: `#status IN (${from.map((_, i) => `:from${i}`).join(', ')})`,
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: {
        ':status': ended.status,
        ...Object.fromEntries(names.map((name) => [`:${name}`, values[name]])),
        ...Object.fromEntries(from.map((status, i) => [`:from${i}`, status])),
      },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  };
}
