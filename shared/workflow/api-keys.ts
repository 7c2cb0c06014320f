import type { CreatedKey, KeyAnswer } from '../contracts/api-key-answers.ts';
import { fingerprintApiKey, keyPrefix, keyStatus, maxActiveKeys, newApiKey } from '../domain/api-key.ts';
import { isoTime } from '../domain/clock.ts';
import { whyInactive, type License } from '../domain/license.ts';
import { ServiceError } from '../errors.ts';
import type { ApiKey, ApiKeyStore } from '../store/api-key-store.ts';

export interface IssueKeyCommand {
  license: License;
  /** The name that its owner gives it. */
  name: string;
  /** Null for a key that does not expire. */
  expiresAtMs: number | null;
}

/**
 * Makes a key of a license. The raw key exists only in the answer.
 * @throws LICENSE_INACTIVE, KEY_LIMIT_REACHED
 */
export async function issueApiKey(
  { license, name, expiresAtMs }: IssueKeyCommand,
  apiKeys: ApiKeyStore,
  nowMs: number,
): Promise<{ rawKey: string; key: ApiKey }> {
  const { licenseId, ownerId } = license;
  const inactive = whyInactive(license, nowMs);
  if (inactive !== null) {
    throw new ServiceError('LICENSE_INACTIVE', `The license ${licenseId} gets no keys: ${inactive}.`);
  }
  const rawKey = newApiKey();
  const key: ApiKey = {
    ...fingerprintApiKey(rawKey),
    keyPrefix: keyPrefix(rawKey),
    name,
    licenseId,
    ownerId,
    createdAtMs: nowMs,
    expiresAtMs,
    revokedAtMs: null,
  };
  if (await apiKeys.insert(key)) return { rawKey, key };
  throw new ServiceError(
    'KEY_LIMIT_REACHED',
    `The license ${licenseId} has ${maxActiveKeys} active keys already: revoke one first.`,
  );
}

export function createdKey(rawKey: string, key: ApiKey): CreatedKey {
  return {
    keyId: key.keyId,
    key: rawKey,
    keyPrefix: key.keyPrefix,
    name: key.name,
    licenseId: key.licenseId,
    createdAt: isoTime(key.createdAtMs),
    expiresAt: isoTime(key.expiresAtMs),
  };
}

/** Leaves out the hash: by a list of hashes a thief could tell which stolen keys are real. */
export function keyAnswer(key: ApiKey, lastUsedAtMs: number | null, nowMs: number): KeyAnswer {
  return {
    keyId: key.keyId,
    keyPrefix: key.keyPrefix,
    name: key.name,
    licenseId: key.licenseId,
    status: keyStatus(key, nowMs),
    createdAt: isoTime(key.createdAtMs),
    lastUsedAt: isoTime(lastUsedAtMs),
    expiresAt: isoTime(key.expiresAtMs),
    revokedAt: isoTime(key.revokedAtMs),
  };
}
