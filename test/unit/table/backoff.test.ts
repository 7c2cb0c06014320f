import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { maxConflictRetries, pause, untilDecided } from '../../../shared/table/backoff.ts';

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

describe('attempts', () => {
  /** Those that come before `last` have no result. */
  async function attempts(last: number, result: unknown): Promise<{ made: number; result: unknown }> {
    jest.spyOn(Math, 'random').mockReturnValue(0);
    let made = 0;
    const outcome = untilDecided(3, () => Promise.resolve(++made < last ? undefined : result));
    return { result: await outcome.catch((error: unknown) => error), made };
  }

  test.each([
    [1, 'x'],
    [2, null],
    [3, false],
  ])('end with the first that has a result, the %i.: %j', async (made, result) => {
    expect(await attempts(made, result)).toEqual({ made, result });
  });

  test('of which none has a result are SERVICE_UNAVAILABLE', async () => {
    const { made, result } = await attempts(4, 'x');
    expect(made).toBe(3);
    expect(result).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });
});
