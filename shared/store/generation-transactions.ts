import { idempotencyHours } from '../domain/idempotency.ts';
import type { Generation } from '../domain/generation.ts';
import { toItem } from './generation-item.ts';
import { tallyNames } from './period-store.ts';
import type { TransactItems } from './transact.ts';
import { itemKeys, leaseIndex, ttlAttribute } from './table-keys.ts';

/** What is stored of the model's answer. */
export interface Completion {
  completedAtMs: number;
  referenceImagesUsed: number;
  modelVersion: string;
}

/** What is stored with an idempotency key that a reservation takes. */
export interface IdempotencyClaim {
  bodyHash: string;
}

type TransactItem = TransactItems[number];

/**
 * The reservation: [0] the period's credits, [1] the record, [2] the idempotency key. Conditions have no arithmetic,
 * so `used + held + credits <= limit` is written as `committed <= limit - credits` on the one number that is both.
 */
export function reserveItems(
  TableName: string,
  generation: Generation,
  creditsLimit: number,
  claim: IdempotencyClaim | null,
): TransactItems {
  const { licenseId, requestId, credits, periodStartMs } = generation;
  const items: TransactItems = [
    {
      Update: {
        TableName,
        Key: itemKeys.period(licenseId, periodStartMs),
        UpdateExpression: 'ADD committed :credits',
        ConditionExpression: 'attribute_not_exists(committed) OR committed <= :room',
        ExpressionAttributeValues: { ':credits': credits, ':room': creditsLimit - credits },
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
    const expiresAtMs = generation.createdAtMs + idempotencyHours * 3600 * 1000;
    items.push({
      Put: {
        TableName,
        Item: {
          ...itemKeys.idempotencyRecord(generation.keyId, generation.idempotencyKeyHash),
          requestId,
          bodyHash: claim.bodyHash,
          expiresAtMs,
          [ttlAttribute]: Math.ceil(expiresAtMs / 1000),
        },
        ConditionExpression: 'attribute_not_exists(PK) OR expiresAtMs <= :now',
        ExpressionAttributeValues: { ':now': generation.createdAtMs },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      },
    });
  }
  return items;
}

/** The charge: [0] the record from PROCESSING to COMPLETED, [1] its own period's used credits and statistics. */
export function settleItems(TableName: string, ended: Generation): TransactItems {
  const completedAtMs = ended.completedAtMs!;
  const tallies = tallyNames({ type: ended.type, identityId: ended.identity.id, completedAtMs }).flat();
  return [
    endRecord(TableName, ended, ['PROCESSING'], {
      completedAtMs,
      referenceImagesUsed: ended.referenceImagesUsed,
      modelVersion: ended.modelVersion,
    }),
    {
      Update: {
        TableName,
        Key: itemKeys.period(ended.licenseId, ended.periodStartMs),
        UpdateExpression: `ADD used :credits, ${tallies.map((name, i) => `#t${i} ${name.endsWith('#n') ? ':one' : ':credits'}`).join(', ')}`,
        ExpressionAttributeNames: Object.fromEntries(tallies.map((name, i) => [`#t${i}`, name])),
        ExpressionAttributeValues: { ':credits': ended.credits, ':one': 1 },
      },
    },
  ];
}

/** The release: [0] the record to FAILED or TIMEOUT, [1] its own period's held credits, [2] its idempotency key. */
export function releaseItems(
  TableName: string,
  ended: Generation,
  withIdempotencyRecord: boolean,
): TransactItems {
  const items: TransactItems = [
    endRecord(TableName, ended, ['QUEUED', 'PROCESSING'], {
      completedAtMs: ended.completedAtMs,
      errorMessage: ended.errorMessage,
      errorCode: ended.errorCode,
    }),
    {
      Update: {
        TableName,
        Key: itemKeys.period(ended.licenseId, ended.periodStartMs),
        UpdateExpression: 'ADD committed :credits',
        ExpressionAttributeValues: { ':credits': -ended.credits },
      },
    },
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
