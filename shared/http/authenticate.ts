import type { SessionVerifier } from '../accounts/session-verifier.ts';
import type { AccountStore } from '../accounts/store.ts';
import { fingerprintApiKey, isApiKey, keyStatus } from '../keys/api-key.ts';
import { allRights, rightsOfKey } from '../keys/rights.ts';
import { accountCallerId } from '../base/ids.ts';
import { whyInactive } from '../licenses/license.ts';
import { ServiceError } from '../base/errors.ts';
import type { RouteLimit } from '../routes/limits.ts';
import type { Route } from '../routes/route.ts';
import type { ApiKeyStore } from '../keys/store.ts';
import { toRateLog } from '../limits/rate-log-store.ts';
import { itemKeys } from '../table/keys.ts';
import type { LicenseStore } from '../licenses/store.ts';
import type { Caller, KeyCaller, SessionCaller } from './callers.ts';
import { enforceRateLimit, consumeRateLimit, type RateDeps } from './rate-limit.ts';
import { singleHeader, type ApiRequest } from './request.ts';

export interface AccessDeps extends RateDeps {
  apiKeys: ApiKeyStore;
  licenses: LicenseStore;
  accounts: AccountStore;
  /** Asked for by routes that take sessions only. */
  sessions(): SessionVerifier;
}

/**
 * Finds out who calls, by API key or by session, whichever the route takes; then applies the route's rate limit. Until it
 * returns, nothing of the request is looked at but its headers, and nothing is read that only a caller with access needs.
 * @param route one that takes keys has a limit.
 * @throws INVALID_API_KEY, INVALID_SESSION, RATE_LIMITED, SERVICE_UNAVAILABLE
 */
export function authenticate(
  request: ApiRequest,
  { auth, limit }: Pick<Route, 'auth' | 'limit'>,
  deps: AccessDeps,
): Promise<Caller> {
  const token = bearerToken(request);
  // A session's token has dots and a key has none, so each is refused in the words of its kind.
  const bySession = auth === 'session' || (auth === 'key_or_session' && token?.includes('.'));
  return bySession
    ? authenticateSession(request, token, limit, deps)
    : authenticateKey(request, token, limit!, deps);
}

/**
 * Reads the key with its rate log, then its license. A stranger must not learn which keys exist from the time that a refusal
 * takes. So a key that was revoked, has expired or was never made costs the same single read, and is not counted by the rate
 * limit. The holder of a usable key is no stranger: where its license is not active the refusal says so, and may take longer.
 */
async function authenticateKey(
  request: ApiRequest,
  token: string | null,
  limit: RouteLimit,
  deps: AccessDeps,
): Promise<KeyCaller> {
  if (token === null || !isApiKey(token)) throw invalidKey();
  const { keyId, sha256 } = fingerprintApiKey(token);
  const { key, rate } = await deps.apiKeys.getWithRateLog(keyId, limit.name);
  if (key?.sha256 !== sha256 || keyStatus(key, deps.clock.now()) !== 'active') throw invalidKey();
  const { licenseId, ownerId } = key;
  Object.assign(request.logFields, { keyId, licenseId });
  request.refusalOwner = { licenseId, caller: keyId, keyName: key.name };
  const reading = deps.licenses.get(licenseId);
  // Counted while the license is read, which saves a round trip. If the license refuses the key, nobody waits for the count.
  const consuming = consumeRateLimit(request, keyId, limit, rate, deps);
  consuming.catch(() => {});
  const license = await reading;
  if (license === null) throw invalidKey();
  const inactive = whyInactive(license, deps.clock.now());
  if (inactive !== null) throw inactiveLicense(inactive);
  const decision = await consuming;
  if (decision) enforceRateLimit(request, limit, decision, 'key');
  const { monthlyCredits: keyBudget, maxInFlight: keyMaxInFlight } = key;
  const rights = rightsOfKey(key);
  return {
    kind: 'key',
    callerId: keyId,
    key,
    licenseId,
    ownerId,
    keyBudget,
    keyMaxInFlight,
    rights,
    license,
  };
}

/**
 * Verifies the token, then reads when the account's sessions were last ended, with its rate log. A token of the very second
 * is refused too: Cognito says no finer time.
 */
async function authenticateSession(
  request: ApiRequest,
  token: string | null,
  limit: RouteLimit | undefined,
  deps: AccessDeps,
): Promise<SessionCaller> {
  const account = token === null ? null : await deps.sessions().verify(token);
  if (account === null) throw invalidSession();
  const { ownerId, issuedAtMs } = account;
  const callerId = accountCallerId(ownerId);
  const logKey = limit ? [itemKeys.rateLog(callerId, limit.name)] : [];
  const [endedAtMs, log] = await deps.accounts.getSessionsEnd(ownerId, logKey);
  if (issuedAtMs <= endedAtMs) throw invalidSession();
  request.logFields.ownerId = ownerId;
  const caller = { kind: 'session', callerId, ownerId, rights: allRights } as const;
  if (limit) {
    const decision = await consumeRateLimit(request, callerId, limit, toRateLog(log), deps);
    if (decision) enforceRateLimit(request, limit, decision, 'session');
  }
  return caller;
}

/** RFC 6750: `Bearer`, in any case, and one token. Two headers are nobody's credentials. */
function bearerToken(request: ApiRequest): string | null {
  const header = singleHeader(request, 'authorization');
  return /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(header ?? '')?.[1] ?? null;
}

/** One text for every key that is refused by itself: a caller learns nothing about keys that are not theirs. */
function invalidKey(): ServiceError {
  return new ServiceError(
    'INVALID_API_KEY',
    'The API key is missing, invalid, expired or revoked. Send it as "Authorization: Bearer svc_live_…".',
  );
}

function inactiveLicense(why: string): ServiceError {
  return new ServiceError(
    'INVALID_API_KEY',
    `The API key is valid, but its license is not active: ${why}. The key is accepted again once the license is active.`,
  );
}

function invalidSession(): ServiceError {
  return new ServiceError(
    'INVALID_SESSION',
    'The session is missing, invalid or has ended. Sign in again; an API key is not a session.',
  );
}
