import type { Clock } from '../domain/clock.ts';
import { fingerprintApiKey, isApiKey } from '../domain/api-key.ts';
import { isActive, type License } from '../domain/license.ts';
import { takeFromRate, type RateDecision } from '../domain/rate-limit.ts';
import { ServiceError } from '../errors.ts';
import type { RouteLimit } from '../routes.ts';
import type { ApiKey, ApiKeyStore, StoredRateLog } from '../store/api-key-store.ts';
import type { LicenseStore } from '../store/license-store.ts';
import type { Log } from './log.ts';
import { loggableError } from './log.ts';
import { singleHeader, type ApiRequest } from './request.ts';

export interface Caller {
  key: ApiKey;
  license: License;
}

export interface AccessDeps {
  apiKeys: ApiKeyStore;
  licenses: LicenseStore;
  clock: Clock;
  log: Log;
}

/**
 * Who calls, by API key: the key first, then its access record, then the route's rate limit.
 * `alongside` begins as soon as the key is known, so that what a route reads costs no round trip of its own; nothing
 * of it is used unless access is granted.
 * @throws INVALID_API_KEY, RATE_LIMITED, SERVICE_UNAVAILABLE
 */
export async function authenticateKey<T>(
  request: ApiRequest,
  limit: RouteLimit | undefined,
  deps: AccessDeps,
  alongside: (key: ApiKey) => Promise<T>,
): Promise<{ caller: Caller; loaded: T }> {
  const { key, rate } = await readKey(request, limit, deps);
  request.facts.keyId = key.keyId;
  request.facts.licenseId = key.licenseId;
  const loading = alongside(key);
  loading.catch(() => {});
  const [license, decision] = await Promise.all([
    deps.licenses.get(key.licenseId),
    limit ? takeRate(request, key, limit, rate, deps) : null,
  ]);
  if (license === null || !isActive(license, deps.clock.now())) throw invalidKey();
  if (limit && decision) applyLimit(request, limit, decision);
  return { caller: { key, license }, loaded: await loading };
}

async function readKey(
  request: ApiRequest,
  limit: RouteLimit | undefined,
  deps: AccessDeps,
): Promise<{ key: ApiKey; rate: StoredRateLog }> {
  const rawKey = bearerToken(request);
  if (rawKey === null || !isApiKey(rawKey)) throw invalidKey();
  const { keyId, sha256 } = fingerprintApiKey(rawKey);
  const { key, rate } = limit
    ? await deps.apiKeys.getWithRateLog(keyId, limit.name)
    : { key: await deps.apiKeys.get(keyId), rate: { log: [], version: 0 } };
  const expired = key !== null && key.expiresAtMs !== null && key.expiresAtMs <= deps.clock.now();
  if (key === null || key.sha256 !== sha256 || key.revokedAtMs !== null || expired) throw invalidKey();
  return { key, rate };
}

/** RFC 6750: `Bearer`, in any case, and one token. Two headers are nobody's credentials. */
function bearerToken(request: ApiRequest): string | null {
  const header = singleHeader(request, 'authorization');
  return /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(header ?? '')?.[1] ?? null;
}

/** One text for every reason: a caller learns nothing about keys that are not theirs. */
function invalidKey(): ServiceError {
  return new ServiceError(
    'INVALID_API_KEY',
    'The API key is missing, invalid, expired or revoked. Send it as "Authorization: Bearer svc_live_…".',
  );
}

/**
 * Takes one use from the key's rolling log. Each failed write means that another request succeeded, so the attempts
 * are bounded by the quota, not by luck.
 * @returns null when the limit itself could not be checked and the route may go on without it.
 */
async function takeRate(
  request: ApiRequest,
  key: ApiKey,
  limit: RouteLimit,
  rate: StoredRateLog,
  { apiKeys, clock, log }: AccessDeps,
): Promise<RateDecision | null> {
  let stored = rate;
  try {
    for (let attempt = 0; attempt <= 2 * limit.quota; attempt++) {
      const decision = takeFromRate(stored.log, clock.now(), limit);
      if (!decision.allowed) return decision;
      const newer = await apiKeys.putRateLog(key.keyId, limit.name, decision.log, stored.version);
      if (newer === null) return decision;
      stored = newer;
    }
    throw new Error('the rate log never stood still');
  } catch (cause) {
    const { requestId } = request;
    log.error('rate limit fault', { requestId, limit: limit.name, causes: loggableError(cause) });
    if (limit.onFault === 'allow') return null;
    throw new ServiceError('SERVICE_UNAVAILABLE', 'The service is busy. Try again shortly.', { cause });
  }
}

/** The fields of draft-ietf-httpapi-ratelimit-headers, on refusals and on everything that was let through. */
function applyLimit(request: ApiRequest, limit: RouteLimit, decision: RateDecision): void {
  const { name, quota, windowSeconds } = limit;
  request.responseHeaders['ratelimit-policy'] = `"${name}";q=${quota};w=${windowSeconds}`;
  request.responseHeaders.ratelimit = `"${name}";r=${decision.remaining};t=${decision.resetSeconds}`;
  if (decision.allowed) return;
  throw new ServiceError(
    'RATE_LIMITED',
    `At most ${quota} such requests in ${windowSeconds} seconds are allowed for one API key. ` +
      `Try again in ${decision.resetSeconds} seconds.`,
    { retryAfterSeconds: decision.resetSeconds },
  );
}
