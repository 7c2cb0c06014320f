import type { CreatedKey, KeyAnswer } from './answer-contract.ts';
import { fingerprintApiKey, keyPrefix, keyStatus, newApiKey } from './api-key.ts';
import type { KeyAccess } from './contract.ts';
import type { Actor } from '../accounts/audit.ts';
import { isoTime } from '../base/clock.ts';
import { creditPeriod } from '../licenses/credit-period.ts';
import { maxActiveKeys, maxRecentKeys, recentSeconds, type NoRoom } from './slots.ts';
import { newKeyLimit } from '../routes/limits.ts';
import { maxInFlight as maxOfLicense, whyInactive, type License } from '../licenses/license.ts';
import type { RateDecision } from '../limits/rate-limit.ts';
import { counted } from '../base/words.ts';
import { ServiceError } from '../base/errors.ts';
import type { ApiKey, ApiKeyStore } from './store.ts';
import type { LicenseStore } from '../licenses/store.ts';
import type { Period, PeriodStore } from '../licenses/period-store.ts';

export interface IssueKeyCommand {
  license: License;
  /** The name that its owner gives it. */
  name: string;
  /** Null for a key that does not expire. */
  expiresAtMs: number | null;
  /** Null for a key without a budget. */
  monthlyCredits: number | null;
  /** @default 'license' */
  access?: KeyAccess | undefined;
  /** @default as many as its license may have */
  maxInFlight?: number | null | undefined;
  /** Who issues it. @default its owner */
  by?: Actor;
}

/**
 * Makes a key of a license. The raw key exists only in the answer.
 * @param showRate gets how the account's limit of new keys stands, before a refusal too.
 * @throws LICENSE_INACTIVE, INVALID_PARAMETERS, KEY_LIMIT_REACHED, RATE_LIMITED
 */
export async function issueApiKey(
  { license, name, expiresAtMs, monthlyCredits, access = 'license', maxInFlight = null, by }: IssueKeyCommand,
  apiKeys: ApiKeyStore,
  nowMs: number,
  showRate: (rate: RateDecision) => void = () => {},
): Promise<{ rawKey: string; key: ApiKey }> {
  const { licenseId, ownerId } = license;
  const inactive = whyInactive(license, nowMs);
  if (inactive !== null) {
    throw new ServiceError('LICENSE_INACTIVE', `The license ${licenseId} gets no keys: ${inactive}.`);
  }
  checkMaxInFlight(maxInFlight, license);
  const rawKey = newApiKey();
  const key: ApiKey = {
    ...fingerprintApiKey(rawKey),
    keyPrefix: keyPrefix(rawKey),
    name,
    monthlyCredits,
    access,
    maxInFlight,
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

/**
 * A key's own limit is one of its license's at most. Where the license's falls later, the smaller of the two holds.
 * @throws INVALID_PARAMETERS
 */
export function checkMaxInFlight(maxInFlight: number | null | undefined, license: License): void {
  const most = maxOfLicense(license);
  if ((maxInFlight ?? 0) <= most) return;
  throw new ServiceError('INVALID_PARAMETERS', `maxInFlight must be at most ${most}, as of its license.`);
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
    monthlyCredits: key.monthlyCredits,
    access: key.access,
    maxInFlight: key.maxInFlight,
  };
}

export interface KeyAnswerDeps {
  apiKeys: Pick<ApiKeyStore, 'lastUsed'>;
  licenses: Pick<LicenseStore, 'getMany'>;
  periods: Pick<PeriodStore, 'getMany'>;
  /** The limits whose logs say when a key was last used. */
  keyLimitNames: string[];
}

/** Keys as lists show them, in their order. Of `looksAtUse` it is read when they were last used. Each license is read once. */
export async function keyAnswers(
  keys: ApiKey[],
  deps: KeyAnswerDeps,
  nowMs: number,
  looksAtUse = keys,
): Promise<KeyAnswer[]> {
  const keyIds = looksAtUse.map(({ keyId }) => keyId);
  const licenseIds = [...new Set(keys.map(({ licenseId }) => licenseId))];
  const [lastUsed, periods] = await Promise.all([
    deps.apiKeys.lastUsed(keyIds, deps.keyLimitNames),
    presentPeriods(licenseIds, deps, nowMs),
  ]);
  return keys.map((key) => {
    const use = {
      lastUsedAtMs: lastUsed.get(key.keyId) ?? null,
      creditsUsed: periods.get(key.licenseId)?.byKey[key.keyId]?.credits ?? 0,
    };
    return keyAnswer(key, use, nowMs);
  });
}

/** The periods that run of these licenses, by their ids. */
async function presentPeriods(
  licenseIds: string[],
  { licenses, periods }: Pick<KeyAnswerDeps, 'licenses' | 'periods'>,
  nowMs: number,
): Promise<Map<string, Period>> {
  const known = [...(await licenses.getMany(licenseIds)).values()];
  const wanted = known.map((license) => ({
    licenseId: license.licenseId,
    startMs: creditPeriod(license, nowMs).startMs,
  }));
  const found = await periods.getMany(wanted);
  return new Map(wanted.map(({ licenseId }, i) => [licenseId, found[i]!]));
}

/** What is known of a key's use. */
export interface KeyUse {
  lastUsedAtMs: number | null;
  /** In its license's present period. */
  creditsUsed: number;
}

/** Leaves out the hash: by a list of hashes a thief could find out which stolen keys are real. */
export function keyAnswer(key: ApiKey, { lastUsedAtMs, creditsUsed }: KeyUse, nowMs: number): KeyAnswer {
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
    monthlyCredits: key.monthlyCredits,
    access: key.access,
    maxInFlight: key.maxInFlight,
    creditsUsed,
  };
}
