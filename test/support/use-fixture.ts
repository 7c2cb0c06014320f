import { afterAll, beforeAll } from '@jest/globals';
import { openFixture, type Keep } from './fixture.ts';

/**
 * Opens a fixture before the tests of a file, or of a `describe`, and closes it after them.
 * @returns an object that is filled by the time that the first test runs
 */
export function useFixture<T extends object>(open: (keep: Keep) => Promise<T>, openWithinMs?: number): T {
  const fixture = {} as T & { close(): Promise<void> };
  beforeAll(async () => void Object.assign(fixture, await openFixture(open)), openWithinMs);
  afterAll(() => fixture.close?.());
  return fixture;
}
