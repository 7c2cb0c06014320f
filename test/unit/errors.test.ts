import { describe, expect, test } from '@jest/globals';
import { errorCodes, ServiceError, type ErrorCode } from '../../shared/errors.ts';
import { errorAnswer, errorBody } from '../../shared/http/answer.ts';
import { asServiceError } from '../../shared/http/endpoint.ts';
import { routes, type Route } from '../../shared/routes.ts';

/** Section 7 of the specification. */
const specified: [string, number][] = [
  ['INVALID_API_KEY', 401],
  ['INVALID_BODY', 400],
  ['MISSING_IDENTITY', 400],
  ['IDENTITY_NOT_FOUND', 404],
  ['IDENTITY_MISMATCH', 401],
  ['INVALID_PARAMETERS', 400],
  ['TIER_LIMIT', 400],
  ['CREDIT_LIMIT_EXCEEDED', 429],
  ['IDENTITY_UNAVAILABLE', 503],
  ['SERVICE_UNAVAILABLE', 503],
  ['TIMEOUT', 504],
  ['GENERATION_FAILED', 500],
];

/** What the decisions add for the endpoints that every version of the service has. */
const decided: [string, number][] = [
  ['REQUEST_NOT_FOUND', 404],
  ['NOT_FOUND', 404],
  ['IDEMPOTENCY_IN_PROGRESS', 409],
  ['IDEMPOTENCY_MISMATCH', 422],
  ['PAYLOAD_TOO_LARGE', 413],
  ['RATE_LIMITED', 429],
  ['INTERNAL_ERROR', 500],
];

/** What the decisions add for particular endpoints: a code is due as soon as one of its endpoints is there. */
const decidedForEndpoints: [string, number, (route: Route) => boolean][] = [
  ['INVALID_SESSION', 401, ({ auth }) => (auth as string).includes('session')],
  ['LICENSE_INACTIVE', 403, ({ method, path }) => method === 'POST' && path === '/keys'],
  ['KEY_LIMIT_REACHED', 409, ({ method, path }) => method === 'POST' && path === '/keys'],
  ['KEY_NOT_FOUND', 404, ({ path }) => path.startsWith('/keys/')],
  ['LICENSE_NOT_FOUND', 404, ({ path }) => path === '/usage' || path === '/keys'],
  // Due with a route that names an upload in its path. An upload in a body is a parameter: docs/decisions/0014.
  ['UPLOAD_NOT_FOUND', 404, ({ path }) => path.startsWith('/uploads/')],
];

/** What this service adds: docs/decisions/0011. */
const added: [string, number][] = [['REQUEST_BLOCKED', 403]];

const statusOf = (code: string) => errorCodes[code as ErrorCode]?.status;
const allCodes = Object.keys(errorCodes) as ErrorCode[];
const allRoutes: Route[] = Object.values(routes);

test.each(specified)('%s of section 7 has status %i', (code, status) => expect(statusOf(code)).toBe(status));

test.each(decided)('%s of the decisions has status %i', (code, status) =>
  expect(statusOf(code)).toBe(status),
);

test.each(decidedForEndpoints)(
  '%s has status %i as soon as its endpoint is there',
  (code, status, needsIt) => {
    expect(statusOf(code)).toBe(allRoutes.some(needsIt) ? status : statusOf(code) && status);
  },
);

test.each(added)('%s has status %i', (code, status) => expect(statusOf(code)).toBe(status));

test('no code is made up: each is in section 7 or in the decisions', () => {
  const known = [...specified, ...decided, ...decidedForEndpoints, ...added].map(([code]) => code);
  expect(allCodes.filter((code) => !known.includes(code))).toEqual([]);
});

describe('Retry-After', () => {
  const waiting = allCodes.filter(
    (code) => [429, 503].includes(statusOf(code)!) || code === 'IDEMPOTENCY_IN_PROGRESS',
  );

  test('has something to say about five codes at least', () =>
    expect(waiting.length).toBeGreaterThanOrEqual(5));

  test.each(waiting)('%s always carries it, in whole seconds', (code) => {
    const { headers } = errorAnswer(new ServiceError(code, 'Wait.'));
    expect(headers!['retry-after']).toMatch(/^[1-9][0-9]*$/);
  });

  test.each(allCodes.filter((code) => !waiting.includes(code)))('%s does not carry it', (code) => {
    expect(errorAnswer(new ServiceError(code, 'No.')).headers).not.toHaveProperty('retry-after');
  });

  test('is the time that the error knows better than its code', () => {
    const error = new ServiceError('RATE_LIMITED', 'Wait.', { retryAfterSeconds: 7 });
    expect(errorAnswer(error).headers!['retry-after']).toBe('7');
  });
});

describe('an error’s answer', () => {
  test.each(allCodes)('%s: its status, and a body of exactly error and code', (code) => {
    const cause = new Error('a detail of ours');
    const answer = errorAnswer(new ServiceError(code, 'A sentence.', { cause }));
    expect(answer.status).toBe(statusOf(code));
    expect(JSON.stringify(answer.body)).toBe(JSON.stringify({ error: 'A sentence.', code }));
    expect(JSON.stringify(answer)).not.toContain('a detail of ours');
  });

  test('names the stored request when it is about one', () => {
    const error = new ServiceError('IDEMPOTENCY_IN_PROGRESS', 'Wait.', { requestId: 'the-first' });
    expect(errorAnswer(error).headers!['x-request-id']).toBe('the-first');
    expect(errorAnswer(new ServiceError('TIMEOUT', 'Late.')).headers).not.toHaveProperty('x-request-id');
  });

  test.each([
    ['an error of a library', new TypeError('Cannot read properties of secret')],
    ['a text', 'secret'],
    ['nothing', undefined],
    ['an object that looks like one of ours', { code: 'TIER_LIMIT', status: 400, message: 'secret' }],
  ])('%s becomes INTERNAL_ERROR without its words', (_what, thrown) => {
    const error = asServiceError(thrown);
    expect(error.code).toBe('INTERNAL_ERROR');
    expect(JSON.stringify(errorBody(error))).not.toContain('secret');
    expect(error.cause).toBe(thrown);
  });

  test('an error of ours stays itself', () => {
    const error = new ServiceError('TIER_LIMIT', 'Too large.');
    expect(asServiceError(error)).toBe(error);
  });
});
