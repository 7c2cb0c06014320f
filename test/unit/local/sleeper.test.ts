import { beforeEach, expect, test } from '@jest/globals';
import { sleeper, type Sleeper } from '../../../local/sagemaker/sleeper.ts';

let nowMs: number;
let model: Sleeper;

beforeEach(() => {
  nowMs = 0;
  model = sleeper({ sleepMs: 60_000, wakeMs: 20_000, now: () => nowMs });
});

const at = (ms: number) => {
  nowMs = ms;
  const { current, desired } = model.copies();
  return [current, desired];
};

test('starts awake and sleeps when nobody called for so long', () => {
  expect(at(59_999)).toEqual([1, 1]);
  expect(at(60_000)).toEqual([0, 0]);
});

test('does not sleep while a call runs, nor before its time is over after that', () => {
  nowMs = 50_000;
  expect(model.begin()).toBe(true);
  expect(at(500_000)).toEqual([1, 1]);
  model.end();
  expect(at(559_999)).toEqual([1, 1]);
  expect(at(560_000)).toEqual([0, 0]);
});

test('the first call wakes it and is refused, and so are the next until it is awake: they do not begin its waking anew', () => {
  nowMs = 100_000;
  expect(model.begin()).toBe(false);
  expect(at(110_000)).toEqual([0, 1]);
  expect(model.begin()).toBe(false);
  nowMs = 119_999;
  expect(model.begin()).toBe(false);
  nowMs = 120_000;
  expect(model.begin()).toBe(true);
  expect(model.copies()).toEqual({ current: 1, desired: 1, changedAtMs: 120_000 });
});

test('woken and never called, it sleeps again, but not before those who wait have asked', () => {
  model = sleeper({ sleepMs: 1000, wakeMs: 2000, now: () => nowMs });
  nowMs = 5000;
  expect(model.begin()).toBe(false);
  expect(at(36_999)).toEqual([1, 1]);
  expect(at(37_000)).toEqual([0, 0]);
});
