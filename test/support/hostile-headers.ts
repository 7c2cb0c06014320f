import type { ErrorCode } from '../../shared/base/errors.ts';
import {
  isGenerating,
  isPost,
  marker,
  membersOf,
  objectOf,
  spreadTable,
  ways,
  type Hostile,
  type Way,
} from './hostile.ts';

type Headers = [string, string][];

/** What is no credential at all. */
const noCredentials: Record<string, (token: string) => string[]> = {
  nothing: () => [],
  'an empty header': () => [''],
  'the same twice': (token) => [`Bearer ${token}`, `Bearer ${token}`],
  'two in one': (token) => [`Bearer ${token}, Bearer ${token}`],
  'another scheme': (token) => [`Basic ${Buffer.from(`${token}:`).toString('base64')}`],
  'an unknown scheme': (token) => [`${marker} ${token}`],
  'no scheme': (token) => [token],
  'a tab': (token) => [`Bearer\t${token}`],
  'a second word': (token) => [`Bearer ${token} ${marker}`],
  'a space that is none': (token) => [`Bearer\xa0${token}`],
  'an AWS signature': () => [`AWS4-HMAC-SHA256 Credential=${marker}/20260101/us-east-1/s3/aws4_request`],
  'a token of 9 KB': () => [`Bearer ${marker}${'a'.repeat(9000)}`],
};

/** Tokens with dots, which are told to be no session where both kinds are taken. */
const dottedTokens: Record<string, (token: string) => string[]> = {
  dots: () => ['Bearer ..'],
  'a dotted token of 9 KB': () => [`Bearer ${'a.'.repeat(4500)}${marker}`],
};

const otherKind = { session: 'key', key: 'session', key_or_session: null, none: null } as const;
const credentialWays = ways.filter(({ by }) => by !== null);
const refusedBy = ({ route }: Way): ErrorCode =>
  route.auth === 'session' ? 'INVALID_SESSION' : 'INVALID_API_KEY';

export const hostileCredentials: Hostile[] = [
  ...spreadTable(noCredentials, credentialWays, (way, authorization) => ({
    request: (caller) => ({ authorization: authorization(caller[way.by!]) }),
    status: 401,
    code: refusedBy(way),
  })),
  ...spreadTable(dottedTokens, credentialWays, ({ route, by }, authorization) => ({
    request: (caller) => ({ authorization: authorization(caller[by!]) }),
    status: 401,
    code: route.auth === 'key' ? 'INVALID_API_KEY' : 'INVALID_SESSION',
  })),
  ...spreadTable(
    { 'a good credential of the other kind': '' },
    credentialWays.filter(({ route }) => otherKind[route.auth] !== null),
    (way) => ({
      request: (caller) => ({ authorization: [`Bearer ${caller[otherKind[way.route.auth]!]}`] }),
      status: 401,
      code: refusedBy(way),
    }),
  ),
];

/** Routes that need no credential ignore a bad one. */
export const ignoredCredentials: Hostile[] = spreadTable(
  {
    bad: ['Bearer x'],
    'of no bytes': [''],
    'sent twice': ['Bearer x', 'Bearer y'],
    'beyond ASCII': ['\xe9'],
  },
  ways.filter(({ by }) => by === null),
  (_way, authorization) => ({ request: () => ({ authorization }), status: 200 }),
);

const idempotencyKeys: Record<string, string[]> = {
  two: [marker, `${marker}2`],
  'the same twice': [marker, marker],
  'two in one': [`${marker}, ${marker}`],
  '9 KB': ['k'.repeat(9000)],
  'a letter beyond ASCII': [`${marker}\xe9`],
};

export const hostileIdempotencyKeys: Hostile[] = spreadTable(
  idempotencyKeys,
  ways.filter(isGenerating),
  (_way, keys) => ({
    request: () => ({ headers: keys.map((key): [string, string] => ['Idempotency-KEY', key]) }),
    status: 400,
    code: 'INVALID_PARAMETERS',
    says: 'Idempotency-Key',
  }),
);

/** Keys that look like something else, and are keys all the same. */
const oddIdempotencyKeys = {
  'long and quoted': `"${'k'.repeat(255)}"`,
  'a key of the table': 'GEN#x',
  'a prototype': '__proto__',
  'a percent sign': '%00',
};

export const goodIdempotencyKeys: Hostile[] = spreadTable(
  oddIdempotencyKeys,
  ways.filter(isGenerating),
  (_way, key) => ({
    request: () => ({ headers: [['IDEMPOTENCY-key', key]] }),
    status: 503,
    code: 'IDENTITY_UNAVAILABLE',
  }),
);

/** Headers that change nothing about the refusal of a bad body. */
const idleHeaders: Record<string, Headers> = {
  'any Accept': [['Accept', '*/*']],
  'a wish for events': [['Accept', 'TEXT/event-stream ; q=0.1, text/html']],
  'a method in a header': [['X-HTTP-Method-Override', 'DELETE']],
  'a prototype': [['__proto__', marker]],
  'letters beyond ASCII': [['X-Note', `${marker}\xe9\x9b\xff`]],
  'a request id': [['X-Request-Id', `${marker}"}\t{`]],
  'a trace': [['X-Amzn-Trace-Id', marker]],
  'another origin': [['Origin', `https://${marker}.test`]],
  'another host': [['X-Forwarded-Host', `${marker}.test`]],
  'a cookie': [['Cookie', `session=${marker}; __proto__=1`]],
  'a range': [['Range', 'bytes=0-0,1-1']],
  'many headers': Array.from({ length: 500 }, (_, i) => [`X-${i}`, '1'] as [string, string]),
};

export const idleHeaderRequests: Hostile[] = spreadTable(
  idleHeaders,
  ways.filter(isPost),
  (way, headers) => ({
    request: (caller) => ({ headers, body: objectOf([...membersOf(way, caller), `"${marker}":1`]) }),
    status: 400,
    code: 'INVALID_PARAMETERS',
    says: marker,
  }),
);
