import { expect } from '@jest/globals';
import type { ApiKey, ApiKeyStore } from '../../../shared/keys/store.ts';
import { newStoredKey } from '../../support/grants.ts';

export const nowMs = Date.UTC(2026, 10, 1);

/** A key of a license whose account has no other, made now. */
export const newKey = (licenseId: string, changes: Partial<ApiKey> = {}): ApiKey =>
  newStoredKey({ licenseId, ownerId: `owner of ${licenseId}`, createdAtMs: nowMs, ...changes }).stored;

/** Stores new keys, one after the other, so that no insertion meets another. */
export async function insertMany(
  keys: ApiKeyStore,
  licenseId: string,
  count: number,
  changes: Partial<ApiKey> = {},
): Promise<ApiKey[]> {
  const made = Array.from({ length: count }, () => newKey(licenseId, changes));
  for (const key of made) expect(await keys.insert(key)).toMatchObject({ stored: true });
  return made;
}
