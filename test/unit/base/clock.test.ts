import { expect, test } from '@jest/globals';
import { isoTime, systemClock } from '../../../shared/base/clock.ts';

test('the service’s clock is the machine’s', () => {
  const beforeMs = Date.now();
  const nowMs = systemClock.now();
  expect(nowMs).toBeGreaterThanOrEqual(beforeMs);
  expect(nowMs).toBeLessThanOrEqual(Date.now());
});

test('a time-out of the service’s clock aborts by itself, with a TimeoutError', async () => {
  const signal = systemClock.timeout(1);
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
  expect(systemClock.timeout(60_000).aborted).toBe(false);
});

test('a time is written as answers have it, and none stays none', () => {
  expect([isoTime(0), isoTime(null)]).toEqual(['1970-01-01T00:00:00.000Z', null]);
});
