import type { CreatedKey, KeyAnswer } from '../contracts/api-key-answers.ts';
import { fingerprintApiKey, keyPrefix, keyStatus, newApiKey } from '../domain/api-key.ts';
import type { Actor } from '../domain/audit.ts';
import { isoTime } from '../domain/clock.ts';
import {
  maxActiveKeys,
  maxRecentKeys,
  newKeyLimit,
  recentSeconds,
  type NoRoom,
} from '../domain/key-slots.ts';
import { whyInactive, type License } from '../domain/license.ts';
import type { RateDecision } from '../domain/rate-limit.ts';
import { counted } from '../domain/words.ts';
import { ServiceError } from '../errors.ts';
import type { ApiKey, ApiKeyStore } from '../store/api-key-store.ts';

export interface IssueKeyCommand {
  license: License;
  /** The name that its owner gives it. */
  name: string;
  /** Null for a key that does not expire. */
  expiresAtMs: number | null;
  /** Who issues it. @default its owner */
  by?: Actor;
}

/**
 * Makes a key of a license. The raw key exists only in the answer.
 * @param showRate is told how the account's limit of new keys stands, before a refusal too.
 * @throws LICENSE_INACTIVE, KEY_LIMIT_REACHED, RATE_LIMITED
 */
export async function issueApiKey(
  { license, name, expiresAtMs, by }: IssueKeyCommand,
  apiKeys: ApiKeyStore,
  nowMs: number,
  showRate: (rate: RateDecision) => void = () => {},
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
  const inserted = await apiKeys.insert(key, by);
  if (!inserted.stored && inserted.noRoom !== null) throw noRoom(licenseId, inserted.noRoom);
  showRate(inserted.rate);
  if (inserted.stored) return { rawKey, key };
  throw tooManyNewKeys(inserted.rate);
}

function noRoom(licenseId: string, why: NoRoom): ServiceError {
  return new ServiceError(
    'KEY_LIMIT_REACHED',
    why.reason === 'active'
      ? `The license ${licenseId} has ${maxActiveKeys} active keys already: revoke one first.`
      : `The license ${licenseId} has ${maxRecentKeys} keys that are active or ended within the last ${recentSeconds} seconds: ` +
          `wait ${counted(why.waitSeconds, 'second')}.`,
  );
}

function tooManyNewKeys({ resetSeconds }: RateDecision): ServiceError {
  const hours = newKeyLimit.windowSeconds / 3600;
  return new ServiceError(
    'RATE_LIMITED',
    `At most ${newKeyLimit.quota} new keys in ${hours} hours are allowed for one account. ` +
      `Try again in ${counted(resetSeconds, 'second')}.`,
    { retryAfterSeconds: resetSeconds },
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
