import { expect, test } from '@jest/globals';
import { median, medians, percentile } from '../../bench/statistics.ts';

test('a percentile is a value that was measured, by nearest rank', () => {
  const values = Array.from({ length: 200 }, (_, i) => 200 - i);
  expect(percentile(values, 0.5)).toBe(100);
  expect(percentile(values, 0.99)).toBe(198);
  expect(percentile(values, 1)).toBe(200);
  expect(percentile([7], 0.01)).toBe(7);
});

test('the median of an even number is between the two in the middle, and leaves its input alone', () => {
  const values = [4, 1, 3, 2];
  expect(median(values)).toBe(2.5);
  expect(values).toEqual([4, 1, 3, 2]);
});

test('of nothing there is no figure', () => {
  expect(() => median([])).toThrow('Nothing was measured');
  expect(() => percentile([], 0.5)).toThrow('Nothing was measured');
});

test('each member has a median of its own', () => {
  const rounds = [
    { a: 1, b: 9 },
    { a: 2, b: 8 },
    { a: 30, b: 1 },
  ];
  expect(medians(rounds)).toEqual({ a: 2, b: 8 });
});
