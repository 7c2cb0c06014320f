import { expect, test } from '@jest/globals';
import { sequentialTrips, splitAt } from '../../bench/trips.ts';

const span = (beginMs: number, endMs: number) => ({ beginMs, endMs });

test('calls side by side are one trip, calls that waited are more, in whatever order they are told', () => {
  expect(sequentialTrips([])).toBe(0);
  expect(sequentialTrips([span(0, 10), span(1, 11), span(2, 9)])).toBe(1);
  expect(sequentialTrips([span(0, 10), span(10, 20), span(11, 22)])).toBe(2);
  expect(sequentialTrips([span(20, 30), span(0, 10), span(10, 20)])).toBe(3);
});

test('the longest chain counts, not the number of calls that ended before', () => {
  const wave = [span(0, 10), span(0, 10), span(0, 10)];
  expect(sequentialTrips([...wave, span(12, 20)])).toBe(2);
  // Begun while the second of three still ran: it can have waited for the first alone.
  expect(sequentialTrips([span(0, 10), span(10, 30), span(20, 40), span(31, 50)])).toBe(3);
});

test('a call belongs to the time in which it began', () => {
  const [a, b, c] = [span(0, 50), span(10, 20), span(60, 70)];
  expect(splitAt([a, b, c], 10, 60)).toEqual({ before: [a], during: [b], after: [c] });
});
