import { expect, test } from '@jest/globals';
import { creditPeriod, periodEndMs } from '../../../shared/licenses/credit-period.ts';

test('a count that is carried on holds until its end, and the anchor’s period from then on', () => {
  const carried = { startMs: Date.UTC(2026, 0, 20), endMs: Date.UTC(2026, 1, 20), creditsLimit: 7 };
  const terms = { periodAnchorMs: Date.UTC(2026, 1, 1), creditsLimit: 500, carried };
  expect(creditPeriod(terms, carried.endMs - 1)).toEqual(carried);
  const own = { startMs: Date.UTC(2026, 1, 1), endMs: Date.UTC(2026, 2, 1), creditsLimit: 500 };
  expect(creditPeriod(terms, carried.endMs)).toEqual(own);
  expect(creditPeriod({ ...terms, carried: null }, carried.endMs - 1)).toEqual(own);
});

test('a period that was counted ends with a month of its anchor, or of itself, and a count that is or was carried on with its own end', () => {
  const carried = { startMs: Date.UTC(2026, 0, 20), endMs: Date.UTC(2026, 0, 27), creditsLimit: 7 };
  const terms = { periodAnchorMs: Date.UTC(2026, 0, 31), creditsLimit: 500, carried };
  const ends = [Date.UTC(2026, 0, 20), Date.UTC(2026, 1, 28), Date.UTC(2026, 1, 10)].map((startMs) =>
    new Date(periodEndMs(terms, startMs, null)).toISOString().slice(0, 10),
  );
  expect(ends).toEqual(['2026-01-27', '2026-03-31', '2026-03-10']);
  const keptMs = Date.UTC(2026, 0, 25);
  expect(periodEndMs(terms, carried.startMs, keptMs)).toBe(carried.endMs);
  expect(periodEndMs({ ...terms, carried: null }, carried.startMs, keptMs)).toBe(keptMs);
});
