import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { unpaidInWords, unpaidRefusal, type UnpaidRun } from '../../../shared/licenses/unpaid-runs.ts';

const nowMs = Date.UTC(2026, 10, 27, 12);
const minuteMs = 60_000;

/** Unpaid runs so many minutes ago, newest first. */
const runsAt = (...minutesAgo: number[]): UnpaidRun[] =>
  minutesAgo.toSorted((a, b) => a - b).map((ago) => ({ atMs: nowMs - ago * minuteMs, reason: 'deadline' }));

const untilIn = (runs: UnpaidRun[]) => {
  const refusal = unpaidRefusal(runs, nowMs);
  return refusal && [refusal.runs.length, refusal.minutes, (refusal.untilMs - nowMs) / minuteMs];
};

test.each([
  ['none', [], null],
  ['four of now', [0, 0, 0, 0], null],
  ['the fifth in 15 minutes', [0, 1, 2, 3, 14], [5, 15, 1]],
  ['of which one has just left them', [0, 1, 2, 3, 15], null],
  ['a sixth, older than they are', [0, 1, 2, 3, 4, 14], [5, 15, 11]],
  ['19 in a day', Array.from({ length: 19 }, (_, i) => 60 + i), null],
  ['20 in a day', Array.from({ length: 20 }, (_, i) => 60 + i), [20, 24 * 60, 24 * 60 - 79]],
  ['20 in a day, five of them of now', [...Array(5).fill(0), ...Array(15).fill(60)], [20, 24 * 60, 23 * 60]],
])('%s: refused by how many, in how many minutes, for how many more', (_what, minutesAgo, expected) => {
  expect(untilIn(runsAt(...minutesAgo))).toEqual(expected);
});

test('a license that asks whenever it may is never refused for longer than the window, and never has more than the limit in it', () => {
  const steps = fc.array(fc.integer({ min: 0, max: 40 * minuteMs }), { minLength: 30, maxLength: 120 });
  fc.assert(
    fc.property(steps, (waits) => {
      let atMs = nowMs;
      let runs: UnpaidRun[] = [];
      for (const wait of waits) {
        atMs += wait;
        const refusal = unpaidRefusal(runs, atMs);
        for (const { runs: most, minutes } of [
          { runs: 5, minutes: 15 },
          { runs: 20, minutes: 1440 },
        ]) {
          const inWindow = runs.filter((run) => run.atMs > atMs - minutes * minuteMs).length;
          expect(inWindow).toBeLessThanOrEqual(most);
          if (inWindow === most) expect(refusal).not.toBeNull();
        }
        if (refusal === null) runs = [{ atMs, reason: 'wake' }, ...runs];
        else expect(unpaidRefusal(runs, refusal.untilMs)).toBeNull();
      }
    }),
  );
});

describe('the words of a refusal', () => {
  test('say what was wrong with how many', () => {
    const of = (reason: UnpaidRun['reason']) => ({ atMs: 0, reason });
    expect(unpaidInWords([of('reference'), of('wake'), of('reference'), of('deadline')])).toBe(
      '2 with a reference image that the model could not read, 1 that woke it and ended before it was ready, ' +
        '1 that the model did not finish by the deadline',
    );
  });
});
