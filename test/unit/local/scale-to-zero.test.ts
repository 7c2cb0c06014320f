import { beforeEach, expect, test } from '@jest/globals';
import { scaleToZero, type CopyScaling } from '../../../local/sagemaker/scale-to-zero.ts';

let nowMs: number;
let model: CopyScaling;

beforeEach(() => {
  nowMs = 0;
  model = scaleToZero({ idleMs: 60_000, coldStartMs: 20_000, now: () => nowMs });
});

const at = (ms: number) => {
  nowMs = ms;
  const { current, desired } = model.copies();
  return [current, desired];
};

test('a model begins ready, and is scaled to zero when nobody called for so long, but not while a call runs', () => {
  expect(at(59_999)).toEqual([1, 1]);
  expect(model.begin()).toBe(true);
  expect(at(500_000)).toEqual([1, 1]);
  model.end();
  expect(at(559_999)).toEqual([1, 1]);
  expect(at(560_000)).toEqual([0, 0]);
});

test('the first call starts it and is refused, and so are the next: they do not begin the cold start anew', () => {
  nowMs = 100_000;
  expect(model.begin()).toBe(false);
  expect(at(119_999)).toEqual([0, 1]);
  expect(model.begin()).toBe(false);
  nowMs = 120_000;
  expect(model.begin()).toBe(true);
  expect(model.copies()).toEqual({ current: 1, desired: 1, changedAtMs: 120_000 });
});

test('a model that was started and never called is scaled to zero again, but not before those who wait have asked', () => {
  model = scaleToZero({ idleMs: 1000, coldStartMs: 2000, now: () => nowMs });
  nowMs = 5000;
  expect(model.begin()).toBe(false);
  expect(at(36_999)).toEqual([1, 1]);
  expect(at(37_000)).toEqual([0, 0]);
});
