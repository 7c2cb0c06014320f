import { describe, expect, test } from '@jest/globals';
import { chargeCredits, holdCredits, returnCredits } from '../../../shared/generations/credits-part.ts';
import { freeIdempotencyKey, takeIdempotencyKey } from '../../../shared/generations/idempotency-store.ts';
import { enterFlight, leaveFlight } from '../../../shared/generations/in-flight.ts';
import { holdKeyBudget, returnKeyBudget } from '../../../shared/generations/key-budget-part.ts';
import { completeRecord, failRecord } from '../../../shared/generations/record-part.ts';
import { countCharge } from '../../../shared/generations/statistics-part.ts';
import { committedName } from '../../../shared/licenses/period-store.ts';
import { itemKeys, ttlAttribute } from '../../../shared/table/keys.ts';
import type { Part } from '../../../shared/table/transact.ts';
import { sampleGeneration, sampleNowMs } from '../../support/unit-samples.ts';

test('the table may remove an idempotency record in the second after it ends, and not before', () => {
  const generation = sampleGeneration({ idempotencyKeyHash: 'hash' });
  const { put } = takeIdempotencyKey(generation, 'h')!;
  expect(put![ttlAttribute]).toBe(Math.ceil((sampleNowMs + 24 * 3600 * 1000) / 1000));
});

describe('the parts of a request', () => {
  const idempotencyKeyHash = 'hash';
  const generation = { ...sampleGeneration({ idempotencyKeyHash }), credits: 2 };
  const { licenseId, requestId, keyId, periodStartMs } = generation;
  const ended = { ...generation, completedAtMs: periodStartMs, previews: [true], modelVersion: 'm' };
  const byKey = { names: { '#byKey': committedName(keyId) } };
  const period = itemKeys.period(licenseId, periodStartMs);
  const record = itemKeys.generation(licenseId, requestId);
  const ending = { names: { '#status': 'status' }, key: record };
  const lease = 'leaseShard, leaseUntilMs';

  test.each([
    [
      'hold credits up to the limit',
      holdCredits(generation, 10),
      {
        key: period,
        update: { ADD: 'committed :credits' },
        condition: 'committed <= :maxCommitted',
        values: { ':credits': 2, ':maxCommitted': 8 },
      },
    ],
    [
      'charge credits',
      chargeCredits(ended),
      { key: period, update: { ADD: 'used :credits' }, values: { ':credits': 2 } },
    ],
    [
      'return credits',
      returnCredits(ended),
      { key: period, update: { ADD: 'committed :minusCredits' }, values: { ':minusCredits': -2 } },
    ],
    [
      'count what a key without a budget commits',
      holdKeyBudget(generation, null),
      { key: period, update: { ADD: '#byKey :credits' }, ...byKey, values: { ':credits': 2 } },
    ],
    [
      "hold a key's budget, which its first request of a period does not find",
      holdKeyBudget(generation, 2),
      {
        key: period,
        update: { ADD: '#byKey :credits' },
        condition: '(attribute_not_exists(#byKey) OR #byKey <= :maxByKey)',
        ...byKey,
        values: { ':credits': 2, ':maxByKey': 0 },
      },
    ],
    [
      'let nothing pass that costs more than the whole budget',
      holdKeyBudget(generation, 1),
      {
        key: period,
        update: { ADD: '#byKey :credits' },
        condition: '#byKey <= :maxByKey',
        ...byKey,
        values: { ':credits': 2, ':maxByKey': -1 },
      },
    ],
    [
      "return to the key's budget",
      returnKeyBudget(ended)!,
      { key: period, update: { ADD: '#byKey :minusCredits' }, ...byKey, values: { ':minusCredits': -2 } },
    ],
    [
      'complete what runs',
      completeRecord({ ...ended, status: 'COMPLETED' }),
      {
        ...ending,
        update: {
          SET: '#status = :status, completedAtMs = :completedAtMs, previews = :previews, referenceImagesUsed = :referenceImagesUsed, modelVersion = :modelVersion',
          REMOVE: lease,
        },
        condition: '#status IN (:processing)',
        values: {
          ':status': 'COMPLETED',
          ':completedAtMs': periodStartMs,
          ':previews': [true],
          ':referenceImagesUsed': 0,
          ':modelVersion': 'm',
          ':processing': 'PROCESSING',
        },
      },
    ],
    ...([null, 'run-1'] as const).map(
      (runId) =>
        [
          `end what is open, of ${runId ?? 'any run'}`,
          failRecord({ ...ended, status: 'FAILED', errorCode: 'TIMEOUT', errorMessage: 'e' }, runId),
          {
            ...ending,
            update: {
              SET: '#status = :status, completedAtMs = :completedAtMs, errorMessage = :errorMessage, errorCode = :errorCode',
              REMOVE: lease,
            },
            condition: `#status IN (:queued, :processing)${runId ? ' AND (attribute_not_exists(runId) OR begins_with(runId, :run))' : ''}`,
            values: {
              ':status': 'FAILED',
              ':completedAtMs': periodStartMs,
              ':errorMessage': 'e',
              ':errorCode': 'TIMEOUT',
              ':queued': 'QUEUED',
              ':processing': 'PROCESSING',
              ...(runId && { ':run': runId }),
            },
          },
        ] as const,
    ),
    [
      'free an idempotency key of its own',
      freeIdempotencyKey(ended)!,
      {
        key: itemKeys.idempotencyRecord(keyId, idempotencyKeyHash),
        isDeleted: true,
        condition: 'attribute_not_exists(PK) OR requestId = :requestId',
        values: { ':requestId': requestId },
      },
    ],
  ] as const)('%s', (_what, part, expected) => {
    expect({ ...(part as Part<unknown>), refusal: undefined }).toEqual(expected);
  });

  test('return nothing to a key that was not counted, and take no idempotency key where there is none', () => {
    expect(returnKeyBudget({ ...ended, countedByKey: false })).toBeNull();
    const without = { ...ended, idempotencyKeyHash: null };
    expect([takeIdempotencyKey(without, 'h'), freeIdempotencyKey(without)]).toEqual([null, null]);
  });

  test.each([8, 6])('count a charge in %i statistics, by key only where the key is counted', (count) => {
    const { update, names, values } = countCharge({ ...ended, countedByKey: count === 8 });
    expect(update!.ADD!.split(', ')).toHaveLength(count);
    expect(Object.keys(names!)).toHaveLength(count);
    expect(update!.ADD).toMatch(/^#requests0 :one, #credits0 :credits, #requests1 :one/);
    expect(names).toMatchObject({ '#requests0': 't#text_to_image#n', '#credits0': 't#text_to_image#c' });
    expect(values).toEqual({ ':one': 1, ':credits': 2 });
  });
});

describe('a reservation that its period refuses', () => {
  const generation = { ...sampleGeneration(), credits: 2 };
  const name = committedName(generation.keyId);
  /** In the order of the list. */
  const refusalBy = (found: Record<string, number> | undefined) =>
    [holdCredits(generation, 10), holdKeyBudget(generation, 5), enterFlight(generation, 3)]
      .map((part) => part.refusal!(found))
      .find((refusal) => refusal !== null);

  test.each([
    ['over_limit', { committed: 9, [name]: 4, inFlight: 3 }],
    ['over_key_budget', { committed: 8, [name]: 4, inFlight: 3 }],
    ['too_many_in_flight', { committed: 8, [name]: 3, inFlight: 3 }],
    ['too_many_in_flight', { inFlight: 3 }],
    ['counted_elsewhere', { committed: 8, [name]: 3 }],
    ['counted_elsewhere', undefined],
  ])('is told as %s where it was found as %j', (outcome, found) => {
    expect(refusalBy(found)).toEqual({ outcome });
  });

  test('is no matter of a budget where its key has none', () => {
    expect(holdKeyBudget(generation, null).refusal!({ [name]: 100 })).toBeNull();
  });
});

test('a request leaves the period that counts what is in flight, and another than that refuses it', () => {
  const { refusal } = leaveFlight(sampleGeneration(), sampleNowMs);
  expect(refusal!({ inFlight: 0 })).toBeNull();
  expect(refusal!({ committed: 1 })).toEqual({ inFlightPeriodStartMs: null });
});
