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
import { applyRate, takeRate, type RateDeps } from './rate.ts';
import { singleHeader, type ApiRequest } from './request.ts';

export interface AccessDeps extends RateDeps {
  apiKeys: ApiKeyStore;
  licenses: LicenseStore;
  /** Asked for by routes that take sessions only. */
  sessions(): SessionVerifier;
}

/** What a route reads by itself, begun as soon as the caller is known; for a refused key too, so it only reads. */
type Alongside<C extends Credential, T> = (credential: C) => Promise<T>;

export interface Access<T> {
  caller: KeyCaller | SessionCaller;
  loaded: T;
}

/**
 * Who calls, by API key or by session, whichever the route takes; then the route's rate limit.
 * `alongside` begins as soon as the caller is known, so that what a route reads costs no round trip of its own;
 * nothing of it is used unless access is granted.
 * @throws INVALID_API_KEY, INVALID_SESSION, RATE_LIMITED, SERVICE_UNAVAILABLE
 */
export function authenticate<T>(
  request: ApiRequest,
  { auth, limit }: Pick<Route, 'auth' | 'limit'>,
  deps: AccessDeps,
  alongside: Alongside<Credential, T>,
): Promise<Access<T>> {
  const token = bearerToken(request);
  // A token has dots and a key never has, so each is refused in its own words.
  const bySession = auth === 'session' || (auth === 'key_or_session' && token?.includes('.'));
  return bySession
    ? authenticateSession(request, token, limit, deps, alongside)
    : authenticateKey(request, token, limit, deps, alongside);
}

/**
 * The key first, then its access record. A stranger must not learn from the clock which keys exist, so a key that was
 * revoked, has expired or was never made takes the steps of one whose license refuses: a license is read, of such a
 * key's own id where there is no other, and so is what the route reads. Only a write is never made for it.
 */
async function authenticateKey<T>(
  request: ApiRequest,
  token: string | null,
  limit: RouteLimit | undefined,
  deps: AccessDeps,
  alongside: Alongside<KeyCredential, T>,
): Promise<Access<T>> {
  if (token === null || !isApiKey(token)) throw invalidKey();
  const { keyId, sha256 } = fingerprintApiKey(token);
  const { key, rate } = await readKey(keyId, limit, deps);
  const usable = key !== null && key.sha256 === sha256 && keyStatus(key, deps.clock.now()) === 'active';
  const { licenseId, ownerId } = key ?? { licenseId: keyId, ownerId: keyId };
  if (usable) Object.assign(request.facts, { keyId, licenseId });
  const credential = { kind: 'key', callerId: keyId, licenseId, ownerId } as const;
  const loading = alongside(credential);
  const reading = deps.licenses.get(licenseId);
  const taking = usable && limit ? afterReads(() => takeRate(request, keyId, limit, rate, deps)) : null;
  loading.catch(() => {});
  taking?.catch(() => {});
  const license = await reading;
  // Nothing else is waited for: the write of the rate log would tell that the key was one.
  if (!usable || license === null || !isActive(license, deps.clock.now())) throw invalidKey();
  const decision = await taking;
  if (limit && decision) applyRate(request, limit, decision, 'key');
  return { caller: { ...credential, license }, loaded: await loading };
}

async function authenticateSession<T>(
  request: ApiRequest,
  token: string | null,
  limit: RouteLimit | undefined,
  deps: AccessDeps,
  alongside: Alongside<SessionCredential, T>,
): Promise<Access<T>> {
  const account = token === null ? null : await deps.sessions().verify(token);
  if (account === null) throw invalidSession();
  const { ownerId } = account;
  request.facts.ownerId = ownerId;
  const caller = { kind: 'session', callerId: accountCallerId(ownerId), ownerId } as const;
  const loading = alongside(caller);
  loading.catch(() => {});
  if (limit) {
    const decision = await takeRate(request, caller.callerId, limit, null, deps);
    if (decision) applyRate(request, limit, decision, 'session');
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

/**
 * Begins a write when the reads beside it were sent. Else its work would delay their answers; for the key's caller,
 * who needs all of them, it takes as long either way.
 */
async function afterReads<T>(write: () => Promise<T>): Promise<T> {
  for (let turn = 0; turn < 4; turn++) await new Promise((next) => setImmediate(next));
  return write();
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
