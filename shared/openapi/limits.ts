import type { Route } from '../routes/route.ts';
import type { Schema } from './schema.ts';

/** Whose requests a rate limit counts, by the credentials of the route. */
const counted: Record<Route['auth'], string> = {
  key: 'API key',
  session: 'account',
  key_or_session: 'API key or account',
  none: 'address',
};

/** A route's limits, for people. */
export function limitSentences({ auth, limit, creationLimit, throttle }: Route): string[] {
  return [
    ...(creationLimit
      ? [
          `At most ${creationLimit.quota} new ones in ${creationLimit.windowSeconds / 3600} hours for one account; what is ` +
            'refused does not count.',
        ]
      : []),
    ...(limit ? [`At most ${limit.quota} in ${limit.windowSeconds} seconds for one ${counted[auth]}.`] : []),
    ...(typeof throttle === 'object'
      ? [
          `At most ${throttle.ratePerSecond} a second of all callers together, ${throttle.burst} at once; beyond that, ` +
            '429 RATE_LIMITED without `RateLimit` headers.',
        ]
      : []),
  ];
}

/** The same for programs: `x-rate-limit` for one caller, `x-throttle` for all callers together. */
export function limitExtensions({ auth, throttle, ...route }: Route): Schema {
  const limit = route.limit ?? route.creationLimit;
  return {
    ...(limit
      ? {
          'x-rate-limit': {
            name: limit.name,
            requests: limit.quota,
            windowSeconds: limit.windowSeconds,
            per: counted[auth],
          },
        }
      : {}),
    ...(typeof throttle === 'object'
      ? { 'x-throttle': { requestsPerSecond: throttle.ratePerSecond, burst: throttle.burst } }
      : {}),
  };
}
