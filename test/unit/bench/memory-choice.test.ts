import { expect, test } from '@jest/globals';
import { callCostUsd, optionsOf, proposals } from '../../bench/cold/memory-choice.ts';
import { quotaUs } from '../../bench/cold/cpu-quota.ts';

const figures = (memoryMb: number, warmMs: number, rssMb = 60, functionName = 'f') => ({
  functionName,
  memoryMb,
  warmMs,
  rssMb,
  bytes: 1,
  gzipBytes: 1,
  importMs: 1,
  callMs: 1,
});
const price = 0.0000133334;

test('a call costs its started milliseconds, times its memory', () => {
  expect(callCostUsd({ memoryMb: 1024, warmMs: 0.2 }, 0, 1)).toBeCloseTo(0.001, 12);
  expect(callCostUsd({ memoryMb: 256, warmMs: 300 }, 10_000, price)).toBeCloseTo(10.3 * 0.25 * price, 12);
});

test('the cheapest is proposed that has memory enough and is quick enough', () => {
  const options = optionsOf([figures(128, 90), figures(256, 50), figures(512, 20)], () => 0, price);
  expect(proposals(options)).toEqual([{ functionName: 'f', memoryMb: 512 }]);
  const full = optionsOf([figures(128, 20, 120), figures(256, 20, 120)], () => 0, price);
  expect(full[0]!.problem).toBe('too little memory');
  expect(proposals(full)).toEqual([{ functionName: 'f', memoryMb: 256 }]);
});

test('who waits for a model for seconds may wait a little longer, and pays for the wait', () => {
  const slow = [figures(128, 200), figures(256, 100)];
  expect(proposals(optionsOf(slow, () => 0, price))).toEqual([{ functionName: 'f', memoryMb: 256 }]);
  expect(proposals(optionsOf(slow, () => 10_000, price))).toEqual([{ functionName: 'f', memoryMb: 128 }]);
});

test('none is proposed where none fits', () => {
  expect(proposals(optionsOf([figures(128, 5000)], () => 0, price))).toEqual([
    { functionName: 'f', memoryMb: null },
  ]);
});

test('a quota is the share of a processor that Lambda gives for the memory', () => {
  expect(quotaUs(1769)).toBe(20_000);
  expect(quotaUs(128)).toBe(1447);
  expect(quotaUs(1)).toBe(1000);
});
