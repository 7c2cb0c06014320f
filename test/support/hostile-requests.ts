import { gzipSync } from 'node:zlib';
import { newRequestId } from '../../shared/base/ids.ts';
import { errorCodes, type ErrorCode } from '../../shared/base/errors.ts';
import { writeCursor } from '../../shared/http/paging.ts';
import { routes } from '../../shared/routes/routes.ts';
import {
  isGenerating,
  isPost,
  marker,
  membersOf,
  objectOf,
  spread,
  spreadTable,
  isEdit,
  takesBody,
  ways,
  type Hostile,
  type HostileRequest,
  type Way,
} from './hostile.ts';

const generating = ways.filter(isGenerating);
const invalidBody = { status: 400, code: 'INVALID_BODY' } as const;
const invalidParameters = { status: 400, code: 'INVALID_PARAMETERS' } as const;

// Bodies

type Write = (members: string[]) => string | Buffer;

const withBody = ways.filter(takesBody);
/** An edit's images make its body larger. */
const withSmallBody = withBody.filter((way) => !isEdit(way));
const deep = 200_000;
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const latin1 = (text: string) => Buffer.from(text, 'latin1');
const withMember = (member: string) => (members: string[]) => objectOf([...members, member]);

const written = (body: Write, way: Hostile['way']): Pick<Hostile, 'request'> => ({
  request: (caller) => ({ body: body(membersOf(way, caller)) }),
});

/** What is no JSON object in UTF-8. The unit tests of `json.ts` hold the finer cases. */
const unreadable: Record<string, Write> = {
  'an object that is cut': (members) => objectOf(members).slice(0, -1),
  'an array of the object': (members) => `[${objectOf(members)}]`,
  'a raw NUL': withMember(`"x":"${marker}\0"`),
  XML: () => `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>`,
  'a byte order mark': (members) => `\ufeff${objectOf(members)}`,
  'UTF-16': (members) => Buffer.from(objectOf(members), 'utf16le'),
  'Latin-1': (members) => latin1(withMember(`"${marker}":"caf\xe9"`)(members)),
  'gzip without saying so': (members) => gzipSync(objectOf(members)),
  'deep nesting that is cut': (members) => `${objectOf(members).slice(0, -1)},"x":${'['.repeat(deep)}`,
};

const twice: Record<string, Write> = {
  'its first member twice': ([first = '', ...rest]) => objectOf([first, ...rest, first]),
  'a member twice below much': withMember(`"x":${'{"x":'.repeat(60)}{"y":1,"y":1}${'}'.repeat(60)}`),
};

/** The object is one level of it. The last but one is beyond the end of the call's stack. */
const tooDeep: Record<string, Write> = {
  'a level too much': withMember(`"${marker}":${nested(64)}`),
  'as many as fit': withMember(`"x":${nested(deep)}`),
  'no object at all': () => nested(65),
};

/** Members that no body has, and what their refusal names. Unit tests hold how any name is written. */
const unknown: Record<string, [member: string, says: string]> = {
  'an unknown member': [`"${marker}":1`, `"${marker}"`],
  'a prototype': ['"__proto__":{"seed":1,"licenseId":"x"}', '"__proto__"'],
  'a name that acts on terminals': [`"\\u001b[2J${marker}\\u009b\\u202e":1`, `"?[2J${marker}??"`],
  'a member as deep as may be': [`"${marker}":${nested(63)}`, `"${marker}"`],
  'many members': [Array.from({ length: 50_000 }, (_, i) => `"${marker}${i}":${i}`).join(), 'and more'],
};

/** Half a character, and nesting as deep as may be. */
const noPrompts = [`"${marker}\\ud800"`, `[${nested(60)},"${'[{'.repeat(99)}"]`];

const likeList = `{"length":1,"0":{"url":"https://a.test/${marker}"}}`;

/** Values in the place of a member of a body. */
function valuesOfMember(
  name: string,
  texts: string[],
  over: Way[],
  refusal: Pick<Hostile, 'status' | 'code' | 'says'>,
): Hostile[] {
  return spread(texts, over, (way, text) => {
    const body: Write = (members) =>
      objectOf([...members.filter((member) => !member.startsWith(`"${name}"`)), `"${name}":${text}`]);
    return { what: `${name} = ${text.slice(0, 60)}`, way, ...written(body, way), ...refusal };
  });
}

/** Bodies of every route that takes one, each refused with this code by a sentence that says this. */
const refused = (table: Record<string, Write>, says: string, over = withBody): Hostile[] =>
  spreadTable(table, over, (way, body) => ({ ...written(body, way), ...invalidBody, says }));

/** All but the upload of a key, which needs no body. */
const withNecessaryBody = withBody.filter(({ route }) => route !== routes.createUpload);

const hostileBodies: Hostile[] = [
  ...refused(unreadable, ''),
  ...refused(twice, 'twice'),
  ...refused(tooDeep, 'deep'),
  ...refused({ nothing: () => '' }, '', withNecessaryBody),
  ...spreadTable(unknown, withBody, (way, [member, says]) => ({
    ...written(withMember(member), way),
    ...invalidParameters,
    says,
  })),
  ...valuesOfMember('prompt', noPrompts, generating, { ...invalidParameters, says: 'prompt' }),
  ...valuesOfMember('referenceImages', [likeList], generating, invalidParameters),
  ...valuesOfMember('seed', ['1e400'], generating, { ...invalidParameters, says: 'seed' }),
  ...spreadTable({ 'more than 1 MiB': () => `"${marker.repeat(150_000)}"` }, withSmallBody, (way, body) => ({
    ...written(body, way),
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
  })),
];

const codings: Record<string, (text: string) => Buffer> = {
  'identity, GZIP': gzipSync,
  [marker]: Buffer.from,
};

const encodedBodies: Hostile[] = spreadTable(codings, withBody, (way, encode, coding) => ({
  request: (caller) => ({
    headers: [['Content-ENCODING', coding]],
    body: encode(objectOf(membersOf(way, caller))),
  }),
  ...invalidBody,
  says: 'uncompressed',
}));

/** Headers with which a good body is read as it is without them. */
const harmless: Record<string, [string, string][]> = {
  'none of them': [],
  'identity as its encoding': [['Content-Encoding', 'Identity']],
  'two types': [
    ['Content-Type', 'text/plain'],
    ['Content-Type', 'image/png'],
  ],
  'a charset': [['Content-Type', 'application/json; charset=utf-16']],
  'no type at all': [['Content-Type', '']],
};

/** A good generation reaches an identity that has no model, and a good change a key that is not there. */
function acceptedBy({ route }: Hostile['way']): Pick<Hostile, 'status' | 'code'> {
  if (route.streams) return { status: 503, code: 'IDENTITY_UNAVAILABLE' };
  if (route === routes.updateKey) return { status: 404, code: 'KEY_NOT_FOUND' };
  return { status: route === routes.updateAccount ? 200 : 201 };
}

const goodBodies: Hostile[] = [
  ...spreadTable(
    harmless,
    withBody.filter((way) => !isEdit(way)),
    (way, headers) => ({
      request: () => ({ headers }),
      ...acceptedBy(way),
    }),
  ),
  ...spreadTable(
    { 'no body at all': '' },
    ways.filter(({ route, by }) => route === routes.createUpload && by === 'key'),
    (_way, body) => ({ request: () => ({ body }), status: 201 }),
  ),
];

// Headers

type Headers = [string, string][];

/** What is no credential at all. */
const noCredentials: Record<string, (token: string) => string[]> = {
  nothing: () => [],
  'the same twice': (token) => [`Bearer ${token}`, `Bearer ${token}`],
  'two in one': (token) => [`Bearer ${token}, Bearer ${token}`],
  'another scheme': (token) => [`Basic ${Buffer.from(`${token}:`).toString('base64')}`],
  'no scheme': (token) => [token],
  'a tab': (token) => [`Bearer\t${token}`],
  'a second word': (token) => [`Bearer ${token} ${marker}`],
  'a space that is none': (token) => [`Bearer\xa0${token}`],
  'an AWS signature': () => [`AWS4-HMAC-SHA256 Credential=${marker}/20260101/us-east-1/s3/aws4_request`],
  'a token of 9 KB': () => [`Bearer ${marker}${'a'.repeat(9000)}`],
};

/** Tokens with dots: where both kinds are taken, they are refused as sessions. */
const dottedTokens: Record<string, (token: string) => string[]> = {
  dots: () => ['Bearer ..'],
  'a dotted token of 9 KB': () => [`Bearer ${'a.'.repeat(4500)}${marker}`],
};

const otherKind = { session: 'key', key: 'session', key_or_session: null, none: null } as const;
const credentialWays = ways.filter(({ by }) => by !== null);
const refusedBy = ({ route }: Way): ErrorCode =>
  route.auth === 'session' ? 'INVALID_SESSION' : 'INVALID_API_KEY';

const hostileCredentials: Hostile[] = [
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
const ignoredCredentials: Hostile[] = spreadTable(
  {
    'of no bytes': [''],
    'sent twice': ['Bearer x', 'Bearer y'],
    'beyond ASCII': ['\xe9'],
  },
  ways.filter(({ by }) => by === null),
  (_way, authorization) => ({ request: () => ({ authorization }), status: 200 }),
);

const idempotencyKeys: Record<string, string[]> = {
  'the same twice': [marker, marker],
  'two in one': [`${marker}, ${marker}`],
  '9 KB': ['k'.repeat(9000)],
  'a letter beyond ASCII': [`${marker}\xe9`],
};

const hostileIdempotencyKeys: Hostile[] = spreadTable(idempotencyKeys, generating, (_way, keys) => ({
  request: () => ({ headers: keys.map((key): [string, string] => ['Idempotency-KEY', key]) }),
  ...invalidParameters,
  says: 'Idempotency-Key',
}));

/** Keys that look like something else, and are keys all the same. */
const oddIdempotencyKeys = {
  'long and quoted': `"${'k'.repeat(255)}"`,
  'a key of the table': 'GEN#x',
  'a prototype': '__proto__',
  'a percent sign': '%00',
};

const goodIdempotencyKeys: Hostile[] = spreadTable(oddIdempotencyKeys, generating, (_way, key) => ({
  request: () => ({ headers: [['IDEMPOTENCY-key', key]] }),
  status: 503,
  code: 'IDENTITY_UNAVAILABLE',
}));

/** Headers that change nothing about the refusal of a bad body. */
const idleHeaders: Record<string, Headers> = {
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

const idleHeaderRequests: Hostile[] = spreadTable(idleHeaders, ways.filter(isPost), (way, headers) => ({
  request: (caller) => ({ headers, body: objectOf([...membersOf(way, caller), `"${marker}":1`]) }),
  ...invalidParameters,
  says: marker,
}));

// Paths, methods and the names in queries

const id = newRequestId(0);

/** Segments in the place of an id: each is one text, whatever it decodes to. Unit tests hold what an id may be. */
const noIds = [
  marker,
  '%00',
  `${id}%0a`,
  `${id};v=1`,
  id.toUpperCase(),
  id.replaceAll('-', ''),
  'a%2Fb',
  '%2e%2e%2fgenerate',
  '..',
  `GEN%23${id}`,
  'key_0000000000000000000000000000000G',
  '%2500',
  '%0d%0aX-Injected:%201',
  '%E2%80%AE',
  '__proto__',
  'a'.repeat(8000),
];

/** What is no segment, or more than one. */
const noSegments = ['', '%', '%ff', '%c0%af', `${id}/`, `${id}/x`, 'x//'];

const codeOf: Record<string, ErrorCode> = {
  [routes.getGeneration.path]: 'REQUEST_NOT_FOUND',
  [routes.cancelGeneration.path]: 'REQUEST_NOT_FOUND',
  [routes.revokeKey.path]: 'KEY_NOT_FOUND',
  [routes.listActivity.path]: 'LICENSE_NOT_FOUND',
  [routes.listRefusals.path]: 'LICENSE_NOT_FOUND',
  [routes.listRefusedRequests.path]: 'LICENSE_NOT_FOUND',
  [routes.getIdentity.path]: 'IDENTITY_NOT_FOUND',
  [routes.getOpenAiModel.path]: 'IDENTITY_NOT_FOUND',
};

const idWays = ways.filter(({ route }) => route.path.includes('{'));
const withId = ({ route }: Way, segment: string) => route.path.replace(/\{\w+\}/, () => segment);

/** Spellings of a path that are not that path. */
const variants: ((path: string) => string)[] = [
  (path) => `${path}/`,
  (path) => `/${path}`,
  (path) => `/${marker}/..${path}`,
  (path) => `/../v1${path}`,
  (path) => `${path}%00`,
  (path) => `${path};v=1`,
  (path) => path.toUpperCase(),
  (path) => `/%${path.charCodeAt(1).toString(16)}%zz${path.slice(2)}`,
  (path) => `${path}${'a'.repeat(8000)}`,
];

function missing(way: Way, what: string, code: ErrorCode, request: HostileRequest): Hostile {
  return { what, way, request: () => request, status: errorCodes[code].status, code };
}

const hostilePaths: Hostile[] = [
  ...spread(noIds, idWays, (way, segment) =>
    missing(way, segment, codeOf[way.route.path]!, { path: withId(way, segment) }),
  ),
  ...spread(noSegments, idWays, (way, rest) =>
    missing(way, `no segment: ${rest}`, 'NOT_FOUND', { path: withId(way, rest) }),
  ),
  ...spread(
    variants,
    ways.filter((way) => !idWays.includes(way)),
    (way, variant) => missing(way, variant(way.route.path), 'NOT_FOUND', { path: variant(way.route.path) }),
  ),
];

const methods = ['HEAD', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'OPTIONS', 'PROPFIND', 'QUERY'];

/** The methods that a path is not there for. */
const hostileMethods: Hostile[] = ways.flatMap((way) => {
  const taken = ways.filter(({ route }) => route.path === way.route.path).map(({ route }) => route.method);
  return methods
    .filter((method) => !taken.some((one) => one === method))
    .map((method) =>
      missing(way, method, way.route.refusesOthers ? 'METHOD_NOT_ALLOWED' : 'NOT_FOUND', { method }),
    );
});

/** Queries that no route takes, and what their refusal names. Unit tests hold how any name is written. */
const noQueries: Record<string, string> = {
  [`${marker}=1`]: `"${marker}"`,
  '=1': '""',
  '__proto__=1': '"__proto__"',
  'constructor=1&toString=2': '"toString"',
  'limit[0]=1&limit[1]=2': '"limit[1]"',
  'LIMIT=1': '"LIMIT"',
  'limit%00=1': '"limit?"',
  '%zz=1': '"%zz"',
  '%ff=%ff': '"?"',
  '%1b[2J%c2%9b%e2%80%ae=1': '"?[2J??"',
  [Array.from({ length: 300 }, (_, i) => `x${i}=1`).join('&')]: 'and more',
};

const hostileQueries: Hostile[] = spread(Object.entries(noQueries), ways, (way, [query, says]) => ({
  what: query.slice(0, 60),
  way,
  request: () => ({ query: `?${query}` }),
  ...invalidParameters,
  says,
}));

// Values in queries and bodies

const cursorOf = (text: string) => Buffer.from(text).toString('base64url');
const cursor = cursorOf(id);
/** A place in a list of keys. */
const keyCursor = `2026-11-01T00:00:00.000Z#key_${'0'.repeat(32)}`;

/** Values that the parameters of the history don't have. Their unit tests hold the edges. */
const noValues: Record<string, string[]> = {
  limit: ['', '0', '101', '5%00', '%EF%BC%95', '5&limit=5', '9'.repeat(4000)],
  cursor: ['', `GEN#${id}`, `\u0000${id}`, '{"PK":"LICENSE#x"}']
    .map(cursorOf)
    .concat(marker, id, '%ff', `${cursor}=`, `${cursor}&cursor=${cursor}`),
  identityId: ['', '%00', 'IDENTITY%23x', '../x', 'x&identityId=x', 'é'],
  status: ['', 'COMPLETED%00', 'COMPLETED&status=FAILED', '__proto__'],
  type: ['', 'constructor', 'reference&type=reference'],
  keyId: ['', 'acct_x', `key_${'0'.repeat(31)}`, '__proto__'],
  createdAfter: ['', 'yesterday', '2026-11-01', '2026-13-01T00:00:00Z'],
  createdBefore: ['+010000-01-01T00:00:00Z', '2026-11-01T00:00:00'],
  search: ['', '%20', '%00', 'a%00b', 'x'.repeat(201), 'a&search=b'],
};

/** The same of a list of keys. The first is a place in a history, which has another form. */
const noKeyValues: Record<string, string[]> = {
  limit: ['0', '101', '5&limit=5'],
  cursor: [id, `2026-11-01T00:00:00.000Z#${marker}`, `OWNER#x`, `KEY#${keyCursor}`].map(cursorOf),
  licenseId: ['x'],
};

const auditLogs = ways.filter(({ route }) => route === routes.listActivity);
const keyLists = ways.filter(({ route }) => route === routes.listKeys);
const lists = ways.filter(({ route }) => route === routes.listGenerations);
const ofLicense = (way: Way, licenseId: string) => (way.by === 'session' ? `&licenseId=${licenseId}` : '');

const valuesOf = (
  table: Record<string, string[]>,
  over: Way[],
  queryEnd: (way: Way, licenseId: string) => string,
) =>
  Object.entries(table).flatMap(([says, texts]) =>
    spread(texts, over, (way, value) => ({
      what: `${says}=${value.slice(0, 60)}`,
      way,
      request: ({ licenseId }): HostileRequest => ({
        query: `?${encodeURI(`${says}=${value}`).replaceAll('%25', '%')}${queryEnd(way, licenseId)}`,
      }),
      ...invalidParameters,
      says,
    })),
  );

const hostileValues: Hostile[] = [
  ...valuesOf(noValues, lists, ofLicense),
  ...valuesOf(noKeyValues, keyLists, () => ''),
];

/** Places in a list that nobody has: they are well formed, and nothing is there. */
const forged = (
  over: Way[],
  place: string,
  rest: (way: Way, licenseId: string) => HostileRequest = () => ({}),
): Hostile[] =>
  over.map((way) => ({
    what: `a cursor at ${place}`,
    way,
    request: ({ licenseId }) => {
      const { query = '', ...others } = rest(way, licenseId);
      return { ...others, query: `?cursor=${writeCursor(place)}${query}` };
    },
    status: 200,
  }));

const forgedCursors: Hostile[] = [
  ...forged(auditLogs, id, ({ route }, licenseId) => ({
    path: route.path.replace('{licenseId}', licenseId),
  })),
  ...forged(keyLists, keyCursor),
  ...[id, newRequestId(Date.now() + 1e9)].flatMap((place) =>
    forged(lists, place, (way, licenseId) => ({ query: ofLicense(way, licenseId) })),
  ),
];

const noLicenses = ['LICENSE%23x', '%00', '../x', '__proto__', '%ff', 'x'.repeat(4000)];

const licenseWays = ways.filter(
  ({ by, route }) =>
    by === 'session' && route.method === 'GET' && /^.(generate|identities|usage)$/.test(route.path),
);

const ofLicenses = (licenseIds: string[], refusal: Pick<Hostile, 'status' | 'code' | 'says'>): Hostile[] =>
  spread(licenseIds, licenseWays, (way, licenseId) => ({
    what: `licenseId=${licenseId.slice(0, 60)}`,
    way,
    request: () => ({ query: `?licenseId=${licenseId}` }),
    ...refusal,
  }));

const hostileLicenses: Hostile[] = [
  ...ofLicenses([marker, ...noLicenses], { status: 404, code: 'LICENSE_NOT_FOUND' }),
  ...ofLicenses(['', 'x&licenseId=x'], { status: 400, code: 'INVALID_PARAMETERS', says: 'licenseId' }),
];

const looksLikeNone = ['"LICENSE#x"', '"\\u0000"', '"__proto__"', `"${marker}"`, '"../x"'];
const isNone = ['5', 'true', '["x"]', '{"toString":1}', '1e400'];

const sessionPosts = ways.filter((way) => isPost(way) && way.by === 'session');
const inOpenAiWords = generating.filter(({ route }) => route.apiFormat === 'openai');
const inOwnWords = generating.filter((way) => !inOpenAiWords.includes(way));

const notFound = (code: ErrorCode) => ({ status: 404, code });
const hostileIds: Hostile[] = [
  ...valuesOfMember('licenseId', looksLikeNone, sessionPosts, notFound('LICENSE_NOT_FOUND')),
  ...valuesOfMember('licenseId', [...isNone, 'null', '""'], sessionPosts, invalidParameters),
  ...valuesOfMember('identityId', looksLikeNone, inOwnWords, notFound('IDENTITY_NOT_FOUND')),
  ...valuesOfMember('identityId', isNone, inOwnWords, invalidParameters),
  ...valuesOfMember('model', looksLikeNone, inOpenAiWords, notFound('IDENTITY_NOT_FOUND')),
  ...valuesOfMember('model', isNone, inOpenAiWords, invalidParameters),
];

/** Every hostile request, by the rule that it breaks or keeps. */
export const hostileRequests: Record<string, Hostile[]> = {
  'a body is one JSON object in UTF-8 with known members': hostileBodies,
  'a body is not compressed': encodedBodies,
  'a credential is one Authorization header': hostileCredentials,
  'an Idempotency-Key is one short word': hostileIdempotencyKeys,
  'other headers change nothing about a refusal': idleHeaderRequests,
  'a route has one path, and what is no id is not found': hostilePaths,
  'a route has its methods only': hostileMethods,
  'a query has known parameters only, which are named safely': hostileQueries,
  'a parameter of a list has known values only': hostileValues,
  'a license in a query is an id': hostileLicenses,
  'an id in a body is an id': hostileIds,
  // Odd, but right: they are what reaches the table.
  'a good body is read whatever its type': goodBodies,
  'routes without access control ignore credentials': ignoredCredentials,
  'an odd Idempotency-Key is a key all the same': goodIdempotencyKeys,
  'a forged cursor shows nothing': forgedCursors,
};
