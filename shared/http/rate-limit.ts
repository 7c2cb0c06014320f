import type { RateDecision, RateLimit } from '../limits/rate-limit.ts';
import { counted } from '../base/words.ts';
import { ServiceError, serviceBusy } from '../base/errors.ts';
import type { RouteLimit } from '../routes/limits.ts';
import type { StoredRateLog } from '../limits/rate-log-store.ts';
import { countUses, type UseCountDeps } from '../limits/count-uses.ts';
import type { Caller } from './callers.ts';
import { loggableError, type Log } from '../base/log.ts';
import type { ApiRequest } from './request.ts';

export interface RateDeps extends UseCountDeps {
  log: Log;
}

/**
 * Counts one use in the caller's rolling log.
 * @param rate the log where it was read with the caller; null to read it here.
 * @returns null when the limit could not be checked and the route may go on without it.
 */
export async function consumeRateLimit(
  request: ApiRequest,
  callerId: string,
  limit: RouteLimit,
  rate: StoredRateLog | null,
  deps: RateDeps,
): Promise<RateDecision | null> {
  try {
    return await countUses(callerId, limit, { uses: 1, read: rate }, deps);
  } catch (cause) {
    const { requestId } = request;
    deps.log.error('rate limit fault', { requestId, limit: limit.name, causes: loggableError(cause) });
    if (limit.onFault === 'allow') return null;
    throw serviceBusy(cause);
  }
}

/** Adds the headers of draft-ietf-httpapi-ratelimit-headers, to refusals too. */
export function showRateLimit(request: ApiRequest, limit: RateLimit, decision: RateDecision): void {
  const { name, quota, windowSeconds } = limit;
  request.responseHeaders['ratelimit-policy'] = `"${name}";q=${quota};w=${windowSeconds}`;
  request.responseHeaders.ratelimit = `"${name}";r=${decision.remaining};t=${decision.resetSeconds}`;
}

/**
 * Shows the limit. Refuses a caller over it.
 * @throws RATE_LIMITED
 */
export function enforceRateLimit(
  request: ApiRequest,
  limit: RouteLimit,
  decision: RateDecision,
  kind: Caller['kind'],
): void {
  showRateLimit(request, limit, decision);
  refuseOverLimit(limit, decision, kind);
}

/** @throws RATE_LIMITED */
export function refuseOverLimit(limit: RouteLimit, decision: RateDecision, kind: Caller['kind']): void {
  if (decision.allowed) return;
  const whose = kind === 'key' ? 'API key' : 'account';
  throw new ServiceError(
    'RATE_LIMITED',
    `At most ${limit.quota} such requests in ${counted(limit.windowSeconds, 'second')} are allowed for one ${whose}. ` +
      `Try again in ${counted(decision.resetSeconds, 'second')}.`,
    { retryAfterSeconds: decision.resetSeconds },
  );
}
