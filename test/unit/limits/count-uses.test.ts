import { expect, test } from '@jest/globals';
import { countUses } from '../../../shared/limits/count-uses.ts';
import type { RateLimit } from '../../../shared/limits/rate-limit.ts';
import { rateLogsInMemory, standingClock, startMs } from '../generations/fixture.ts';

const limit: RateLimit = { name: 'generate', quota: 3, windowSeconds: 60 };

/** Counts uses of one caller, whose log another process changes in between, so many times. */
function counting(overtaken = 0) {
  const { rateLogs } = rateLogsInMemory();
  const state = { writes: 0, overtaken };
  const stored = async () => rateLogs.get('key_1', 'generate');
  const put: typeof rateLogs.put = async (callerId, name, log, version) => {
    state.writes += 1;
    // A clock that lags has written what the window has left already.
    if (state.writes <= state.overtaken) await rateLogs.put(callerId, name, [startMs - 60_000], version);
    return rateLogs.put(callerId, name, log, version);
  };
  const deps = { rateLogs: { ...rateLogs, put }, clock: standingClock() };
  return { stored, state, count: (uses: number) => countUses('key_1', limit, { uses, read: null }, deps) };
}

test('uses are counted all or none, and none that is refused is written', async () => {
  const { stored, state, count } = counting();
  expect(await count(2)).toMatchObject({ allowed: true, remaining: 1 });
  expect(await count(2)).toMatchObject({ allowed: false });
  expect([(await stored()).log, state.writes]).toEqual([[startMs, startMs], 1]);
  expect(await count(1)).toMatchObject({ allowed: true, remaining: 0 });
});

test('uses are counted again in a log that another request wrote meanwhile, up to twice the quota', async () => {
  const overtaken = counting(6);
  expect(await overtaken.count(1)).toMatchObject({ allowed: true, remaining: 2 });
  expect([(await overtaken.stored()).log, overtaken.state.writes]).toEqual([[startMs], 7]);
  const restless = counting(7);
  await expect(restless.count(1)).rejects.toThrow('the rate log never stood still');
  expect(restless.state.writes).toBe(7);
});
