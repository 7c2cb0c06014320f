import { afterEach, expect, jest, test } from '@jest/globals';
import { maxConflictRetries, pause } from '../../../shared/table/backoff.ts';

afterEach(() => void jest.restoreAllMocks());

/** The time that a pause asks for, where chance gives this much of the longest. */
function pauseMs(attempt: number, chance: number): number {
  jest.spyOn(Math, 'random').mockReturnValue(chance);
  const timer = jest.spyOn(globalThis, 'setTimeout').mockReturnValue(undefined as never);
  void pause(attempt);
  return timer.mock.calls.at(-1)![1]!;
}

test.each([
  [1, 20],
  [5, 320],
  [6, 500],
  [maxConflictRetries, 500],
])('the pause after attempt %i is anything from nothing to %i ms', (attempt, longestMs) => {
  expect(pauseMs(attempt, 0)).toBe(0);
  expect(pauseMs(attempt, 1)).toBe(longestMs);
});

test('a pause ends by itself', async () => {
  jest.spyOn(Math, 'random').mockReturnValue(0);
  await expect(pause(1)).resolves.toBeUndefined();
});
