import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { creditCost, usageBlock } from '../../../shared/licenses/credits.ts';

describe('a request costs one credit for each started megapixel of each image', () => {
  test.each([
    [512, 512, 1, 1],
    [1024, 1024, 1, 1],
    [1088, 1024, 1, 2],
    [2048, 2048, 4, 16],
  ])('%i × %i, %i outputs: %i credits', (width, height, numOutputs, credits) => {
    expect(creditCost({ width, height, numOutputs })).toBe(credits);
  });

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

describe('the usage block', () => {
  const periodEndMs = Date.UTC(2026, 1, 28, 12);

  test('has the five members of the specification', () => {
    expect(usageBlock({ used: 120, limit: 500, charged: 4, periodEndMs })).toEqual({
      creditsUsed: 120,
      creditsLimit: 500,
      creditsRemaining: 380,
      creditsCharged: 4,
      periodResetDate: '2026-02-28T12:00:00.000Z',
    });
  });

  test('shows by how much more is used than a limit that was lowered', () => {
    const usage = usageBlock({ used: 500, limit: 499, charged: 1, periodEndMs });
    expect(usage).toMatchObject({ creditsUsed: 500, creditsLimit: 499, creditsRemaining: -1 });
  });
});
