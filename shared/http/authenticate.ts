import type { SessionVerifier } from '../adapters/session-verifier.ts';
import { fingerprintApiKey, isApiKey, keyStatus } from '../domain/api-key.ts';
import { accountCallerId } from '../domain/ids.ts';
import { isActive } from '../domain/license.ts';
import { ServiceError } from '../errors.ts';
import type { Route, RouteLimit } from '../routes.ts';
import type { ApiKey, ApiKeyStore } from '../store/api-key-store.ts';
import type { LicenseStore } from '../store/license-store.ts';
import type { StoredRateLog } from '../store/rate-log-store.ts';
import type { Credential, KeyCaller, KeyCredential, SessionCaller, SessionCredential } from './callers.ts';
import { enforceRateLimit, consumeRateLimit, type RateDeps } from './rate-limit.ts';
import { singleHeader, type ApiRequest } from './request.ts';

export interface AccessDeps extends RateDeps {
  apiKeys: ApiKeyStore;
  licenses: LicenseStore;
  /** Asked for by routes that take sessions only. */
  sessions(): SessionVerifier;
}

/** A route's own reads. They begin as soon as the caller is known, also for a key that is refused: so they only read. */
type Prefetch<C extends Credential, T> = (credential: C) => Promise<T>;

export interface Access<T> {
  caller: KeyCaller | SessionCaller;
  loaded: T;
}

/**
 * Finds out who calls, by API key or by session, whichever the route takes; then applies the route's rate limit.
 * `prefetch` begins as soon as the caller is known, so that the route's reads cost no round trip of their own.
 * Nothing of it is used unless access is granted.
 * @throws INVALID_API_KEY, INVALID_SESSION, RATE_LIMITED, SERVICE_UNAVAILABLE
 */
export function authenticate<T>(
  request: ApiRequest,
  { auth, limit }: Pick<Route, 'auth' | 'limit'>,
  deps: AccessDeps,
  prefetch: Prefetch<Credential, T>,
): Promise<Access<T>> {
  const token = bearerToken(request);
  // A token has dots and a key never has, so each is refused in its own words.
  const bySession = auth === 'session' || (auth === 'key_or_session' && token?.includes('.'));
  return bySession
    ? authenticateSession(request, token, limit, deps, prefetch)
    : authenticateKey(request, token, limit, deps, prefetch);
}

/**
 * Reads the key, then its license. A stranger must not learn from the clock which keys exist. So every refused key takes
 * the same steps, whether it was revoked, has expired, was never made, or belongs to a license that has ended: a license
 * is read (under the key's own id where there is no other), and so is what the route reads. Only a usable key's use is
 * written to the rate log. That write begins after the reads, and a refusal does not wait for it.
 */
async function authenticateKey<T>(
  request: ApiRequest,
  token: string | null,
  limit: RouteLimit | undefined,
  deps: AccessDeps,
  prefetch: Prefetch<KeyCredential, T>,
): Promise<Access<T>> {
  if (token === null || !isApiKey(token)) throw invalidKey();
  const { keyId, sha256 } = fingerprintApiKey(token);
  const { key, rate } = await readKey(keyId, limit, deps);
  const usable = key !== null && key.sha256 === sha256 && keyStatus(key, deps.clock.now()) === 'active';
  const { licenseId, ownerId } = key ?? { licenseId: keyId, ownerId: keyId };
  if (usable) Object.assign(request.logFields, { keyId, licenseId });
  const credential = { kind: 'key', callerId: keyId, licenseId, ownerId } as const;
  const loading = prefetch(credential);
  const reading = deps.licenses.get(licenseId);
  const consuming = usable && limit ? consumeRateLimit(request, keyId, limit, rate, deps) : null;
  // A refusal drops what else was begun. Its failures must not count as unhandled.
  loading.catch(() => {});
  consuming?.catch(() => {});
  const license = await reading;
  if (!usable || license === null || !isActive(license, deps.clock.now())) throw invalidKey();
  const decision = await consuming;
  if (limit && decision) enforceRateLimit(request, limit, decision, 'key');
  return { caller: { ...credential, license }, loaded: await loading };
}

async function authenticateSession<T>(
  request: ApiRequest,
  token: string | null,
  limit: RouteLimit | undefined,
  deps: AccessDeps,
  prefetch: Prefetch<SessionCredential, T>,
): Promise<Access<T>> {
  const account = token === null ? null : await deps.sessions().verify(token);
  if (account === null) throw invalidSession();
  const { ownerId } = account;
  request.logFields.ownerId = ownerId;
  const caller = { kind: 'session', callerId: accountCallerId(ownerId), ownerId } as const;
  const loading = prefetch(caller);
  loading.catch(() => {});
  if (limit) {
    const decision = await consumeRateLimit(request, caller.callerId, limit, null, deps);
    if (decision) enforceRateLimit(request, limit, decision, 'session');
  }
  return { caller, loaded: await loading };
}

async function readKey(
  keyId: string,
  limit: RouteLimit | undefined,
  { apiKeys }: AccessDeps,
): Promise<{ key: ApiKey | null; rate: StoredRateLog | null }> {
  if (limit) return apiKeys.getWithRateLog(keyId, limit.name);
  return { key: await apiKeys.get(keyId), rate: null };
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

function invalidSession(): ServiceError {
  return new ServiceError(
    'INVALID_SESSION',
    'The session is missing, invalid or has ended. Sign in again; an API key is not a session.',
  );
}
