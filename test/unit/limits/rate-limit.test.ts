import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { consumeFromRateLog, type RateLimit, type RateLog } from '../../../shared/limits/rate-limit.ts';

const generate: RateLimit = { name: 'generate', quota: 10, windowSeconds: 60 };
const windowMs = 60_000;
const nowMs = Date.UTC(2026, 5, 1, 12);

/** Takes uses one after the other. @returns each decision */
function takeAll(timesMs: number[], limit: RateLimit = generate) {
  let log: RateLog = [];
  return timesMs.map((ms) => {
    const decision = consumeFromRateLog(log, ms, limit);
    if (decision.allowed) log = decision.log;
    return decision;
  });
}

test('says in how many whole seconds, rounded up, the oldest use is free again, to whoever is let in or not', () => {
  const [first, second] = takeAll([nowMs, nowMs + 10_500]);
  expect([first!.resetSeconds, second!.resetSeconds]).toEqual([60, 50]);
  const uses = Array.from({ length: 10 }, () => nowMs);
  const resetAt = (ms: number) => takeAll([...uses, ms]).at(-1)!.resetSeconds;
  expect([0, 1, 1000, 59_999].map((ms) => resetAt(nowMs + ms))).toEqual([60, 60, 59, 1]);
});

test('says how many are left to whoever asks for more than that', () => {
  const three = { ...generate, quota: 3 };
  expect(consumeFromRateLog([nowMs, nowMs], nowMs, three, 2)).toMatchObject({ allowed: false, remaining: 1 });
  expect(consumeFromRateLog([nowMs, nowMs, nowMs, nowMs], nowMs, three)).toMatchObject({ remaining: 0 });
});

/** Bursts in the same millisecond, steps of seconds, the edges of the window, and clocks that go back. */
const anyStep = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0) },
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 9000 }) },
  { weight: 2, arbitrary: fc.constantFrom(windowMs - 1, windowMs, windowMs + 1) },
  { weight: 2, arbitrary: fc.integer({ min: -70_000, max: -1 }) },
  { weight: 1, arbitrary: fc.integer({ min: -10_000_000, max: 10_000_000 }) },
);
const anyTimes = fc
  .array(anyStep, { minLength: 1, maxLength: 80 })
  .map((steps) => steps.reduce<number[]>((times, step) => [...times, (times.at(-1) ?? nowMs) + step], []));
const anyLimit = fc.integer({ min: 1, max: 12 }).map((quota): RateLimit => ({ ...generate, quota }));

describe('under any sequence of times, also ones that go back or stand still', () => {
  test('the decisions are those of a model that keeps every use and counts: it refuses only a full window', () => {
    fc.assert(
      fc.property(anyTimes, anyLimit, (times, limit) => {
        const usedMs: number[] = [];
        let log: number[] = [];
        takeAll(times, limit).forEach((decision, i) => {
          // A clock that goes back stands still at the latest use.
          const atMs = Math.max(times[i]!, ...usedMs);
          const inWindow = usedMs.filter((ms) => ms + windowMs > atMs);
          const allowed = inWindow.length < limit.quota;
          if (allowed) {
            usedMs.push(atMs);
            log = [...inWindow, atMs];
          }
          const remaining = allowed ? limit.quota - log.length : 0;
          expect(decision).toMatchObject({ allowed, remaining, log });
        });
      }),
    );
  });

  test('after resetSeconds a refused caller is let in, and a second earlier is not', () => {
    fc.assert(
      fc.property(anyTimes, anyLimit, (times, limit) => {
        takeAll(times, limit).forEach(({ allowed, log, resetSeconds }, i) => {
          if (allowed) return;
          const triedAt = (seconds: number) =>
            consumeFromRateLog(log, times[i]! + seconds * 1000, limit).allowed;
          expect(Number.isInteger(resetSeconds) && resetSeconds >= 1).toBe(true);
          expect(triedAt(resetSeconds)).toBe(true);
          expect(triedAt(resetSeconds - 1)).toBe(false);
        });
      }),
    );
  });

  test('several uses at once are as many single ones, or none where the last of them would be refused', () => {
    const anyUses = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 80, maxLength: 80 });
    const roomy = fc.integer({ min: 4, max: 12 }).map((quota): RateLimit => ({ ...generate, quota }));
    fc.assert(
      fc.property(anyTimes, anyUses, roomy, (times, uses, limit) => {
        let log: RateLog = [];
        for (const [i, ms] of times.entries()) {
          const decision = consumeFromRateLog(log, ms, limit, uses[i]!);
          let single = { allowed: true, log, remaining: 0 };
          for (let taken = 0; taken < uses[i]! && single.allowed; taken++)
            single = consumeFromRateLog(single.log, ms, limit);
          expect(decision.allowed).toBe(single.allowed);
          const triedAt = (seconds: number) =>
            consumeFromRateLog(log, ms + seconds * 1000, limit, uses[i]!).allowed;
          if (decision.allowed)
            expect(decision).toMatchObject({ log: single.log, remaining: single.remaining });
          else expect([decision.log, triedAt(decision.resetSeconds)]).toEqual([log, true]);
          log = decision.log;
        }
      }),
    );
  });
});
