import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { scaleToZero } from '../../../local/sagemaker/scale-to-zero.ts';
import {
  afterAnswer,
  afterRefusal,
  firstColdStartSeconds,
  longestColdStartSeconds,
  noColdStart,
  secondsUntilReady,
  shortestIdleSeconds,
  stateOfScaling,
  type ColdStart,
} from '../../../shared/model/cold-start.ts';

const startMs = 1_000_000_000_000;
const anySeconds = fc.option(fc.integer({ min: 1, max: longestColdStartSeconds }));
/** Whatever other machines have written, by whatever clocks. */
const anyColdStart: fc.Arbitrary<ColdStart> = fc.record({
  sinceMs: fc.option(fc.integer({ min: startMs - 10 ** 8, max: startMs + 10 ** 8 })),
  refusedAtMs: fc.integer({ min: startMs - 10 ** 8, max: startMs + 10 ** 8 }),
  begunAtMs: fc.integer({ min: startMs - 10 ** 8, max: startMs + 10 ** 8 }),
  wakeSeconds: anySeconds,
});

/** A model that takes so long, asked at these times after the first call, until it answers. */
function coldStart(before: ColdStart, tookMs: number, askedAfterMs: Iterable<number>): ColdStart {
  let cold = before;
  for (const afterMs of askedAfterMs) {
    if (afterMs >= tookMs) return afterAnswer(cold, startMs + afterMs);
    cold = afterRefusal(cold, startMs + afterMs);
  }
  return cold;
}

function* every(ms: number): Generator<number> {
  for (let afterMs = 0; ; afterMs += ms) yield afterMs;
}

describe('the time that a caller reads', () => {
  test('is whole seconds, at least five and never more than half an hour, whatever was noted', () => {
    fc.assert(
      fc.property(anyColdStart, (noted) => {
        const seconds = secondsUntilReady(afterRefusal(noted, startMs), startMs)!;
        expect(Number.isInteger(seconds)).toBe(true);
        expect(seconds).toBeGreaterThanOrEqual(5);
        expect(seconds).toBeLessThanOrEqual(longestColdStartSeconds);
      }),
    );
  });

  test('is what a cold start took lately, less what has passed: 300 seconds before the first', () => {
    const first = afterRefusal(noColdStart, startMs);
    expect(secondsUntilReady(first, startMs)).toBe(firstColdStartSeconds);
    expect(secondsUntilReady(first, startMs + 100_001)).toBe(200);
    expect(secondsUntilReady(first, startMs + 400_000)).toBe(5);
    const next = afterRefusal({ ...noColdStart, wakeSeconds: 240 }, startMs);
    expect(secondsUntilReady(next, startMs + 60_000)).toBe(180);
  });

  test('never grows while one cold start goes on', () => {
    fc.assert(
      fc.property(anySeconds, fc.array(fc.integer({ min: 1, max: 110_000 })), (wakeSeconds, pauses) => {
        let cold = afterRefusal({ ...noColdStart, wakeSeconds }, startMs);
        let nowMs = startMs;
        let read = secondsUntilReady(cold, nowMs)!;
        for (const pauseMs of pauses) {
          nowMs += pauseMs;
          cold = afterRefusal(cold, nowMs);
          const seconds = secondsUntilReady(cold, nowMs)!;
          expect(seconds).toBeLessThanOrEqual(read);
          read = seconds;
        }
      }),
    );
  });

  test('is nothing once a call was answered', () => {
    const ready = afterAnswer(afterRefusal(noColdStart, startMs), startMs + 1000);
    expect(secondsUntilReady(ready, startMs + 1000)).toBeNull();
    expect(secondsUntilReady(noColdStart, startMs)).toBeNull();
  });
});

describe('calls that begin a cold start', () => {
  const anyWaits = fc.array(fc.integer({ min: 0, max: 1_200_000 }), { minLength: 5, maxLength: 40 });

  test('are all counted, whenever they come, where it takes half of the time that it took lately, or longer', () => {
    fc.assert(
      fc.property(anyWaits, fc.integer({ min: 150, max: 1200 }), anySeconds, (waits, tookSeconds, lately) => {
        let nowMs = startMs;
        const wakeSeconds = lately && Math.min(lately, 2 * tookSeconds);
        const options = { idleMs: shortestIdleSeconds * 1000, coldStartMs: tookSeconds * 1000 };
        const model = scaleToZero({ ...options, now: () => nowMs });
        let [cold, begun, counted]: [ColdStart, number, number] = [{ ...noColdStart, wakeSeconds }, 0, 0];
        for (const wait of waits) {
          nowMs += wait;
          const wasAsleep = model.copies().desired === 0;
          if (model.begin()) {
            model.end();
            cold = afterAnswer(cold, nowMs);
            continue;
          }
          begun += wasAsleep ? 1 : 0;
          const next = afterRefusal(cold, nowMs);
          counted += next.begunAtMs === cold.begunAtMs ? 0 : 1;
          cold = next;
          expect(counted).toBeGreaterThanOrEqual(begun);
        }
      }),
    );
  });

  test('are counted once, where somebody asks until it is ready and it takes what it took lately', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 5, max: 1800 }),
        fc.integer({ min: 1000, max: 60_000 }),
        (took, pause) => {
          let cold = afterRefusal({ ...noColdStart, wakeSeconds: took }, startMs);
          for (let afterMs = pause; afterMs < took * 1000; afterMs += pause) {
            cold = afterRefusal(cold, startMs + afterMs);
            expect(cold.begunAtMs).toBe(startMs);
          }
        },
      ),
    );
  });
});

describe('what a cold start took', () => {
  test('is known to some seconds where somebody asks all the time, whatever was known before', () => {
    const took = fc.integer({ min: 1000, max: 1_780_000 });
    fc.assert(
      fc.property(took, fc.integer({ min: 1000, max: 15_000 }), anySeconds, (tookMs, pauseMs, before) => {
        const { wakeSeconds, sinceMs } = coldStart(
          { ...noColdStart, wakeSeconds: before },
          tookMs,
          every(pauseMs),
        );
        expect(sinceMs).toBeNull();
        // Refusals are noted every ten seconds, and a half is rounded.
        expect(Math.abs(wakeSeconds! - tookMs / 1000)).toBeLessThanOrEqual(pauseMs / 1000 + 10.5);
      }),
    );
  });

  test('is not made longer by a caller who comes back when that time is over, or later', () => {
    const lateness = fc.double({ min: 1, max: 10, noNaN: true });
    fc.assert(
      fc.property(anySeconds, lateness, (before, late) => {
        const known = { ...noColdStart, wakeSeconds: before };
        const waitMs = secondsUntilReady(afterRefusal(known, startMs), startMs)! * 1000;
        const { wakeSeconds } = coldStart(known, 1, [0, waitMs * late]);
        expect(wakeSeconds).toBeLessThanOrEqual(before ?? firstColdStartSeconds);
      }),
    );
  });

  test('counts anew after a gap in which it may have been ready', () => {
    const asked = afterRefusal({ ...noColdStart, wakeSeconds: 240 }, startMs);
    const nextMs = startMs + 480_001;
    expect(afterRefusal(asked, nextMs - 1).sinceMs).toBe(startMs);
    const next = afterRefusal(asked, nextMs);
    expect(next).toEqual({ sinceMs: nextMs, refusedAtMs: nextMs, begunAtMs: nextMs, wakeSeconds: 240 });
    expect(secondsUntilReady(next, nextMs)).toBe(240);
    // Who looks at it in between sees no cold start either.
    expect(secondsUntilReady(asked, nextMs)).toBeNull();
  });

  test('is at least a second and at most half an hour, whatever clocks say', () => {
    fc.assert(
      fc.property(anyColdStart, (noted) => {
        const { wakeSeconds } = afterAnswer({ ...noted, sinceMs: noted.sinceMs ?? startMs }, startMs);
        expect(wakeSeconds).toBeGreaterThanOrEqual(1);
        expect(wakeSeconds).toBeLessThanOrEqual(longestColdStartSeconds);
      }),
    );
  });
});

describe('nothing is written', () => {
  test('for refusals within ten seconds of the last that was noted', () => {
    const noted = afterRefusal(noColdStart, startMs);
    expect(afterRefusal(noted, startMs + 9999)).toBe(noted);
    expect(afterRefusal(noted, startMs + 10_000)).toEqual({ ...noted, refusedAtMs: startMs + 10_000 });
  });

  test('for an answer where nobody had found it scaled to zero', () => {
    const ready = { ...noColdStart, wakeSeconds: 100 };
    expect(afterAnswer(ready, startMs)).toBe(ready);
  });
});

describe('health', () => {
  const refused = afterRefusal({ ...noColdStart, wakeSeconds: 100 }, startMs);
  const halfAnHour = longestColdStartSeconds * 1000;
  let late = refused;
  for (let afterMs = 0; afterMs <= halfAnHour; afterMs += 60_000)
    late = afterRefusal(late, startMs + afterMs);

  test.each([
    ['asleep', noColdStart, 0, 'asleep'],
    ['asleep', refused, 1000, 'waking'],
    ['asleep', refused, 180_000, 'asleep'],
    ['asleep', afterAnswer(refused, startMs + 1), 2, 'asleep'],
    ['waking', refused, 1000, 'waking'],
    ['waking', noColdStart, 0, 'waking'],
    ['waking', late, halfAnHour, 'waking'],
    ['waking', late, halfAnHour + 1, 'unavailable'],
    ['ready', late, halfAnHour + 1, 'ready'],
    ['unavailable', refused, 0, 'unavailable'],
  ] as const)(
    'of a component that is %s (%#): a call is known before its alarm, and no cold start lasts for ever',
    (is, noted, afterMs, said) => {
      expect(stateOfScaling({ state: is, changedAtMs: 0 }, noted, startMs + afterMs)).toBe(said);
    },
  );

  test('a component that was scaled to zero after the call does not start by it', () => {
    const scaledToZero = (changedAtMs: number) => ({ state: 'asleep' as const, changedAtMs });
    expect(stateOfScaling(scaledToZero(startMs), refused, startMs + 1000)).toBe('waking');
    expect(stateOfScaling(scaledToZero(startMs + 1), refused, startMs + 1000)).toBe('asleep');
  });
});
