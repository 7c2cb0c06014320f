import { describe, expect, test } from '@jest/globals';
import { createRate, timesOf } from '../src/estimate.ts';

describe('the rate', () => {
  test('expects nothing before anything was measured, and then a moving average', () => {
    const rate = createRate();
    expect(rate.secondsFor(4)).toBe(0);
    rate.finished(1, 2);
    expect(rate.secondsFor(4)).toBe(8);
    rate.finished(2, 2);
    expect(rate.secondsFor(1)).toBeCloseTo(1.7);
  });

  test('one picture that took hours does not stop the painter', () => {
    const rate = createRate();
    rate.finished(1, 1);
    rate.finished(1, 8 * 3600);
    expect(rate.secondsFor(1)).toBeCloseTo(1.9);
  });

  test('is learned from a picture that was stopped only where that shows that painting is slower', () => {
    const rate = createRate();
    rate.stopped(1, 10, { done: 4, all: 20 });
    expect(rate.secondsFor(1)).toBeCloseTo(44.4, 1);
    rate.stopped(1, 0.1, { done: 0, all: 20 });
    expect(rate.secondsFor(1)).toBeCloseTo(44.4, 1);
    rate.finished(1, 20);
    expect(rate.secondsFor(1)).toBe(20);
  });
});

test('requests are laid on the threads in their order, each picture on the one that is free first', () => {
  const asked = [
    { pictures: 1, secondsEach: 10 },
    { pictures: 3, secondsEach: 2 },
    { pictures: 1, secondsEach: 1 },
  ];
  expect(timesOf(asked, [5, 1], 2)).toEqual([
    { begins: 1, ends: 11 },
    { begins: 5, ends: 11 },
    { begins: 11, ends: 12 },
  ]);
});
