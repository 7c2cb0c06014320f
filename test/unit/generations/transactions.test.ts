import { expect, test } from '@jest/globals';
import { reserveItems } from '../../../shared/generations/transactions.ts';
import { ttlAttribute } from '../../../shared/table/keys.ts';
import { sampleGeneration, sampleNowMs } from '../../support/unit-samples.ts';

const limits = { creditsLimit: 100, keyBudget: null, maxInFlight: 10 };

test('the table may remove an idempotency record in the second after it ends, and not before', () => {
  const generation = sampleGeneration({ idempotencyKeyHash: 'hash' });
  const { Item } = reserveItems('table', generation, limits, { bodyHash: 'h' })[2]!.Put!;
  expect(Item![ttlAttribute]).toBe(Math.ceil((sampleNowMs + 24 * 3600 * 1000) / 1000));
});
