import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { creditCost, usageBlock } from '../../../shared/licenses/credits.ts';

describe('a request costs one credit for each started megapixel of each image', () => {
  test('for every size and number of outputs it is the number of 64 × 64 tiles, 256 to a credit, rounded up', () => {
    const side = fc.integer({ min: 8, max: 32 });
    fc.assert(
      fc.property(side, side, fc.integer({ min: 1, max: 4 }), (across, down, numOutputs) => {
        const tiles = across * down;
        let perImage = 0;
        for (let paid = 0; paid < tiles; paid += 256) perImage += 1;
        expect(creditCost({ width: across * 64, height: down * 64, numOutputs })).toBe(perImage * numOutputs);
      }),
    );
  });
});

test('the usage block has five members, a sixth where there are extra credits, and shows how much is used beyond a limit that was lowered', () => {
  const periodEndMs = Date.UTC(2026, 1, 28, 12);
  const usage = { used: 500, limit: 499, charged: 4, periodEndMs };
  const block = {
    creditsUsed: 500,
    creditsLimit: 499,
    creditsRemaining: -1,
    creditsCharged: 4,
    periodResetDate: '2026-02-28T12:00:00.000Z',
  };
  expect(usageBlock({ ...usage, extra: null })).toEqual(block);
  const extra = { remaining: 7, expiresAtMs: periodEndMs };
  expect(usageBlock({ ...usage, extra })).toEqual({ ...block, extraRemaining: 7 });
});
