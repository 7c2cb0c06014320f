import { expect, test } from '@jest/globals';
import { maxRecentKeys, whyNoRoom, type ActiveKeys } from '../../../shared/keys/slots.ts';

const nowMs = Date.UTC(2026, 10, 27);

/** Keys that ended so many seconds ago, whatever the order in which they are listed. */
const endedAgo = (...seconds: number[]): ActiveKeys =>
  Object.fromEntries(
    seconds.map((ago, i) => [`key_${i}`, { revokedAtMs: nowMs - ago * 1000, expiresAtMs: null }]),
  );

test('a license with fifty keys that ended within a minute waits until the one that ended first is forgotten', () => {
  const ages = Array.from({ length: maxRecentKeys }, (_, i) => 5 + ((7 * i) % 50));
  expect(whyNoRoom(endedAgo(...ages), nowMs)).toEqual({ reason: 'recent', waitSeconds: 6 });
  // With two more, three must be forgotten: those of 54, 53 and 52 seconds ago.
  expect(whyNoRoom(endedAgo(...ages, 5, 5), nowMs)).toEqual({ reason: 'recent', waitSeconds: 8 });
  expect(whyNoRoom(endedAgo(...ages.slice(1)), nowMs)).toBeNull();
});
