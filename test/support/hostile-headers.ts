import type { ErrorCode } from '../../shared/errors.ts';
import {
  isGenerating,
  marker,
  membersOf,
  objectOf,
  ways,
  type Caller,
  type Hostile,
  type Way,
} from './hostile.ts';

type Headers = [string, string][];

const nobody = (
  way: Way,
  what: string,
  authorization: (token: string) => string[],
  code?: ErrorCode,
): Hostile => ({
  what,
  way,
  request: (caller) => ({ authorization: authorization(caller[way.by!]) }),
  status: 401,
  code: code ?? (way.route.auth === 'session' ? 'INVALID_SESSION' : 'INVALID_API_KEY'),
});

/** What is no credential at all. A token with dots is told to be no session where both kinds are taken. */
const noCredentials: Record<string, (token: string) => string[]> = {
  nothing: () => [],
  'an empty header': () => [''],
  'no token': () => ['Bearer'],
  'the same twice': (token) => [`Bearer ${token}`, `Bearer ${token}`],
  'one and an empty one': (token) => [`Bearer ${token}`, ''],
  'two in one': (token) => [`Bearer ${token}, Bearer ${token}`],
  'another scheme': (token) => [`Basic ${Buffer.from(`${token}:`).toString('base64')}`],
  'a scheme of its own': (token) => [`${marker} ${token}`],
  'no scheme': (token) => [token],
  'no space': (token) => [`Bearer${token}`],
  'a tab': (token) => [`Bearer\t${token}`],
  'a colon': (token) => [`Bearer: ${token}`],
  quotes: (token) => [`Bearer "${token}"`],
  'a second word': (token) => [`Bearer ${token} ${marker}`],
  'a space that is none': (token) => [`Bearer\xa0${token}`],
  'a letter beyond ASCII': (token) => [`Bearer ${token}\xe9`],
  'a comma': (token) => [`Bearer ${token},`],
  'another parameter': (token) => [`Bearer ${token};v=1`],
  'an AWS signature': () => [`AWS4-HMAC-SHA256 Credential=${marker}/20260101/us-east-1/s3/aws4_request`],
  'a token of 9 KB': () => [`Bearer ${marker}${'a'.repeat(9000)}`],
};

const credentialWays = ways.filter(({ by }) => by !== null);

export const hostileCredentials: Hostile[] = credentialWays.flatMap((way) => {
  const dotted: ErrorCode = way.route.auth === 'key' ? 'INVALID_API_KEY' : 'INVALID_SESSION';
  const wrongKind = { session: 'key', key: 'session', key_or_session: null, none: null } as const;
  const other = wrongKind[way.route.auth];
  return [
    ...Object.entries(noCredentials).map(([what, write]) => nobody(way, what, write)),
    nobody(way, 'a dotted token of 9 KB', () => [`Bearer ${'a.'.repeat(4500)}${marker}`], dotted),
    nobody(way, 'dots', () => ['Bearer ..'], dotted),
    ...(other === null
      ? []
      : [
          {
            ...nobody(way, `a good ${other}`, () => []),
            request: (caller: Caller) => ({ authorization: [`Bearer ${caller[other]}`] }),
          },
        ]),
  ];
});

const idempotencyKeys: Record<string, string[]> = {
  two: [marker, `${marker}2`],
  'the same twice': [marker, marker],
  none: [''],
  'white space': ['   '],
  'an empty quoted one': ['""'],
  'two words': [`two ${marker}`],
  'two quoted words': [`"two ${marker}"`],
  'two in one': [`${marker}, ${marker}`],
  '256 characters': ['k'.repeat(256)],
  '256 quoted characters': [`"${'k'.repeat(256)}"`],
  '9 KB': ['k'.repeat(9000)],
  'a letter beyond ASCII': [`${marker}\xe9`],
  'a tab': [`${marker}\t1`],
  'two quoted ones': [`"${marker}" `.repeat(2)],
};

export const hostileIdempotencyKeys: Hostile[] = ways.filter(isGenerating).flatMap((way) =>
  Object.entries(idempotencyKeys).map(([what, keys]) => ({
    what,
    way,
    request: () => ({ headers: keys.map((key): [string, string] => ['Idempotency-KEY', key]) }),
    status: 400,
    code: 'INVALID_PARAMETERS',
    says: 'Idempotency-Key',
  })),
);

/** Keys that look like something else, and are keys all the same. */
export const strangeIdempotencyKeys = [
  'k'.repeat(255),
  `"${'k'.repeat(255)}"`,
  'GEN#x',
  '../../x',
  '__proto__',
  '{"a":1}',
  'a,b',
  '"\\"\\\\"',
  '%00',
];

/** Headers that change nothing about the refusal of a bad body. */
const idleHeaders: Record<string, Headers> = {
  'any Accept': [['Accept', '*/*']],
  'no Accept that there is': [['Accept', `${marker}/${marker}`]],
  'an Accept without sense': [['Accept', ',;q=2;,text/event-stream/;=']],
  'twenty kinds of Accept': Array.from(
    { length: 20 },
    (_, i) => ['Accept', `text/x-${i}`] as [string, string],
  ),
  'a wish for events': [['Accept', 'TEXT/event-stream ; q=0.1, text/html']],
  'a method in a header': [['X-HTTP-Method-Override', 'DELETE']],
  'a prototype': [
    ['__proto__', marker],
    ['constructor', marker],
  ],
  'letters beyond ASCII': [['X-Note', `${marker}\xe9\x9b\xff`]],
  'a request id': [['X-Request-Id', `${marker}"}\t{`]],
  'a trace': [
    ['X-Amzn-Trace-Id', marker],
    ['traceparent', marker],
  ],
  'another origin': [['Origin', `https://${marker}.test`]],
  'an origin that is none': [['Origin', 'null']],
  'other hosts': [
    ['X-Forwarded-Host', `${marker}.test`],
    ['X-Forwarded-For', `127.0.0.1, ${marker}`],
  ],
  'a cookie': [['Cookie', `session=${marker}; __proto__=1`]],
  'a range': [
    ['Range', 'bytes=0-0,1-1'],
    ['If-None-Match', '*'],
  ],
  'many headers': Array.from({ length: 500 }, (_, i) => [`X-${i}`, '1'] as [string, string]),
};

export const idleHeaderRequests: Hostile[] = ways
  .filter(({ route }) => route.method === 'POST')
  .flatMap((way) =>
    Object.entries(idleHeaders).map(([what, headers]) => ({
      what,
      way,
      request: (caller) => ({ headers, body: objectOf([...membersOf(way, caller), `"${marker}":1`]) }),
      status: 400,
      code: 'INVALID_PARAMETERS',
      says: marker,
    })),
  );
