import { keyEndMs, keyStatus, type KeyTimes } from './api-key.ts';

/** How many active keys one license may have. */
export const maxActiveKeys = 25;

/**
 * How many keys of a license may be active or have ended a moment ago. Each key has rate limits of its own, so otherwise
 * revoking keys and making new ones, or keys that soon expire, would be a way around them.
 */
export const maxRecentKeys = 50;

/** For so long a key that ended still takes one of those places: as long as its rate limits would remember it. */
export const recentSeconds = 60;

/** A license's keys that take a place, by their ids. */
export type ActiveKeys = Readonly<Record<string, KeyTimes>>;

/** Why a license gets no further key: one must be revoked, or one that ended must be forgotten first. */
export type NoRoom = { reason: 'active' } | { reason: 'recent'; waitSeconds: number };

/** The keys without those that ended too long ago to take a place. */
export function recentKeys(activeKeys: ActiveKeys, nowMs: number): Record<string, KeyTimes> {
  const recent = Object.entries(activeKeys).filter(
    ([, key]) => (keyEndMs(key) ?? Infinity) > nowMs - recentMs,
  );
  return Object.fromEntries(recent);
}

/** @returns null when the license gets one more key. */
export function whyNoRoom(activeKeys: ActiveKeys, nowMs: number): NoRoom | null {
  const recent = Object.values(recentKeys(activeKeys, nowMs));
  const ended = recent.filter((key) => keyStatus(key, nowMs) !== 'active');
  if (recent.length - ended.length >= maxActiveKeys) return { reason: 'active' };
  if (recent.length < maxRecentKeys) return null;
  const endsMs = ended.map((key) => keyEndMs(key)!).sort((a, b) => a - b);
  // All but 49 of them must be forgotten.
  const lastMs = endsMs[recent.length - maxRecentKeys]!;
  return { reason: 'recent', waitSeconds: Math.ceil((lastMs + recentMs - nowMs) / 1000) };
}

const recentMs = recentSeconds * 1000;
