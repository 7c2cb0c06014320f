import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { creditCost } from '../../../dashboard/src/lib/credits.ts';
import { creditCost as chargedCost } from '../../../shared/domain/credits.ts';

test('the cost that is shown before sending is what the service charges, for every size and number', () => {
  const side = fc.oneof(
    fc.integer({ min: 8, max: 64 }).map((steps) => steps * 64),
    fc.nat({ max: 10_000 }),
  );
  const order = fc.record({ width: side, height: side, numOutputs: fc.integer({ min: 1, max: 100 }) });
  fc.assert(fc.property(order, (asked) => expect(creditCost(asked)).toBe(chargedCost(asked))));
});

test('a megapixel is one credit, and one row more begins the next', () => {
  expect(creditCost({ width: 1024, height: 1024, numOutputs: 1 })).toBe(1);
  expect(creditCost({ width: 1024, height: 1088, numOutputs: 1 })).toBe(2);
  expect(creditCost({ width: 512, height: 512, numOutputs: 4 })).toBe(4);
  expect(creditCost({ width: 2048, height: 2048, numOutputs: 3 })).toBe(12);
});
