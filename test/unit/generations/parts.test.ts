import { describe, expect, test } from '@jest/globals';
import { holdCredits } from '../../../shared/generations/credits-part.ts';
import { freeIdempotencyKey, takeIdempotencyKey } from '../../../shared/generations/idempotency-store.ts';
import { enterFlight, enterKeyFlight, leaveFlight } from '../../../shared/generations/in-flight.ts';
import { holdKeyBudget, returnKeyBudget } from '../../../shared/generations/key-budget-part.ts';
import { countCharge } from '../../../shared/generations/statistics-part.ts';
import { committedName } from '../../../shared/licenses/period-store.ts';
import { ttlAttribute } from '../../../shared/table/keys.ts';
import { sampleGeneration, sampleNowMs } from '../../support/unit-samples.ts';

test('the table may remove an idempotency record in the second after it ends, and not before', () => {
  const generation = sampleGeneration({ idempotencyKeyHash: 'hash' });
  const { put } = takeIdempotencyKey(generation, 'h')!;
  expect(put![ttlAttribute]).toBe(Math.ceil((sampleNowMs + 24 * 3600 * 1000) / 1000));
});

test('nothing is counted for or returned to a key that has no counts, and no idempotency key is taken where there is none', () => {
  const generation = sampleGeneration({ countedByKey: false, completedAtMs: sampleNowMs });
  expect(returnKeyBudget(generation)).toBeNull();
  expect(Object.values(countCharge(generation).names!).join()).not.toContain(generation.keyId);
  expect([takeIdempotencyKey(generation, 'h'), freeIdempotencyKey(generation)]).toEqual([null, null]);
});

describe('a reservation that its period refuses', () => {
  const generation = { ...sampleGeneration(), credits: 2 };
  const name = committedName(generation.keyId);
  /** In the order of the list. */
  const refusalBy = (found: Record<string, number> | undefined) =>
    [
      holdCredits(generation, 10),
      holdKeyBudget(generation, 5),
      enterFlight(generation, 3),
      enterKeyFlight(generation, 1),
    ]
      .map((part) => part!.refusal!(found))
      .find((refusal) => refusal !== null);

  test.each([
    ['over_limit', { committed: 9, [name]: 4, inFlight: 3 }],
    ['over_key_budget', { committed: 8, [name]: 4, inFlight: 3 }],
    ['too_many_in_flight', { committed: 8, [name]: 3, inFlight: 3 }],
    ['too_many_in_flight', { inFlight: 3 }],
    ['too_many_of_key_in_flight', { committed: 8, [name]: 3, inFlight: 2 }],
    ['counted_elsewhere', { committed: 8, [name]: 3 }],
    ['counted_elsewhere', undefined],
  ])('is refused as %s where it was found as %j', (outcome, found) => {
    expect(refusalBy(found)).toMatchObject({ outcome });
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
