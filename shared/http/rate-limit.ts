import type { Clock } from '../domain/clock.ts';
import { consumeFromRateLog, type RateDecision } from '../domain/rate-limit.ts';
import { ServiceError, serviceBusy } from '../errors.ts';
import type { RouteLimit } from '../routes.ts';
import type { RateLogStore, StoredRateLog } from '../store/rate-log-store.ts';
import type { Credential } from './callers.ts';
import { loggableError, type Log } from '../runtime/log.ts';
import type { ApiRequest } from './request.ts';

export interface RateDeps {
  rateLogs: RateLogStore;
  clock: Clock;
  log: Log;
}

/**
 * Counts one use in the caller's rolling log. A write is refused only when another request was counted in between, so
 * the quota bounds the attempts.
 * @param rate the log where it was read with the caller; null to read it here.
 * @returns null when the limit could not be checked and the route may go on without it.
 */
export async function consumeRateLimit(
  request: ApiRequest,
  callerId: string,
  limit: RouteLimit,
  rate: StoredRateLog | null,
  { rateLogs, clock, log }: RateDeps,
): Promise<RateDecision | null> {
  try {
    let stored = rate ?? (await rateLogs.get(callerId, limit.name));
    for (let attempt = 0; attempt <= 2 * limit.quota; attempt++) {
      const decision = consumeFromRateLog(stored.log, clock.now(), limit);
      if (!decision.allowed) return decision;
      const newer = await rateLogs.put(callerId, limit.name, decision.log, stored.version);
      if (newer === null) return decision;
      stored = newer;
    }
    throw new Error('the rate log never stood still');
  } catch (cause) {
    const { requestId } = request;
    log.error('rate limit fault', { requestId, limit: limit.name, causes: loggableError(cause) });
    if (limit.onFault === 'allow') return null;
    throw serviceBusy(cause);
  }
}

/**
 * Adds the headers of draft-ietf-httpapi-ratelimit-headers, to refusals too. Refuses a caller over the limit.
 * @throws RATE_LIMITED
 */
export function enforceRateLimit(
  request: ApiRequest,
  limit: RouteLimit,
  decision: RateDecision,
  kind: Credential['kind'],
): void {
  const { name, quota, windowSeconds } = limit;
  request.responseHeaders['ratelimit-policy'] = `"${name}";q=${quota};w=${windowSeconds}`;
  request.responseHeaders.ratelimit = `"${name}";r=${decision.remaining};t=${decision.resetSeconds}`;
  if (decision.allowed) return;
  const whose = kind === 'key' ? 'API key' : 'account';
  throw new ServiceError(
    'RATE_LIMITED',
    `At most ${quota} such requests in ${windowSeconds} seconds are allowed for one ${whose}. ` +
      `Try again in ${decision.resetSeconds} seconds.`,
    { retryAfterSeconds: decision.resetSeconds },
  );
}
