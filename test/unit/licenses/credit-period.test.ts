import { expect, test } from '@jest/globals';
import { creditPeriod } from '../../../shared/licenses/credit-period.ts';

test('a count that is carried on holds until its end, and the anchor’s period from then on', () => {
  const carried = { startMs: Date.UTC(2026, 0, 20), endMs: Date.UTC(2026, 1, 20), creditsLimit: 7 };
  const terms = { periodAnchorMs: Date.UTC(2026, 1, 1), creditsLimit: 500, carried };
  expect(creditPeriod(terms, carried.endMs - 1)).toEqual(carried);
  const own = { startMs: Date.UTC(2026, 1, 1), endMs: Date.UTC(2026, 2, 1), creditsLimit: 500 };
  expect(creditPeriod(terms, carried.endMs)).toEqual(own);
  expect(creditPeriod({ ...terms, carried: null }, carried.endMs - 1)).toEqual(own);
});
