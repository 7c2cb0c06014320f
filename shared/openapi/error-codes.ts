import { errorCodes, type ErrorCode } from '../base/errors.ts';
import type { Route } from '../routes/route.ts';
import type { Operation } from './operations.ts';

/** The codes of every route: for its query, from the gateway and the firewall, and for faults. */
const everywhere: ErrorCode[] = [
  'INVALID_PARAMETERS',
  'RATE_LIMITED',
  'REQUEST_BLOCKED',
  'PAYLOAD_TOO_LARGE',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
  'TIMEOUT',
];

const byCredential: Record<Route['auth'], ErrorCode[]> = {
  key: ['INVALID_API_KEY'],
  session: ['INVALID_SESSION'],
  key_or_session: ['INVALID_API_KEY', 'INVALID_SESSION'],
  none: [],
};

/** Every error code that a route may answer, in the order of the table of errors. */
export function codesOf(route: Route, { body, codes = [] }: Operation): ErrorCode[] {
  const answered = new Set<ErrorCode>([
    ...everywhere,
    ...byCredential[route.auth],
    ...(body ? (['INVALID_BODY'] as const) : []),
    // A path whose parameter is empty or can't be decoded is no path of this API.
    ...(route.path.includes('{') ? (['NOT_FOUND'] as const) : []),
    ...codes,
  ]);
  return (Object.keys(errorCodes) as ErrorCode[]).filter((code) => answered.has(code));
}
