import { newRequestId } from '../../shared/base/ids.ts';
import type { ErrorCode } from '../../shared/base/errors.ts';
import { writeCursor } from '../../shared/http/paging.ts';
import { routes } from '../../shared/routes/routes.ts';

import {
  isGenerating,
  isPost,
  marker,
  membersOf,
  objectOf,
  spread,
  ways,
  type Caller,
  type Hostile,
  type HostileRequest,
  type Way,
} from './hostile.ts';

const id = newRequestId(0);
const cursorOf = (text: string) => Buffer.from(text).toString('base64url');
const cursor = cursorOf(id);

/** Values that the parameters of the history don't have. Their unit tests hold the edges. */
const noValues: Record<string, string[]> = {
  limit: ['', '0', '101', '5%00', '%EF%BC%95', '5&limit=5', '%ff', '9'.repeat(4000)],
  cursor: ['', `GEN#${id}`, `\u0000${id}`, '{"PK":"LICENSE#x"}']
    .map(cursorOf)
    .concat(marker, id, '%ff', 'A'.repeat(4000), `${cursor}=`, `${cursor}%00`, `${cursor}&cursor=${cursor}`),
  identityId: ['', '%00', 'IDENTITY%23x', '../x', '%ff', 'x&identityId=x', 'é'],
  status: ['', 'COMPLETED%00', 'COMPLETED&status=FAILED', '__proto__'],
  type: ['', 'constructor', 'reference&type=reference'],
  keyId: ['', 'acct_x', `key_${'0'.repeat(31)}`, '__proto__', `key_${'0'.repeat(32)}%00`],
  createdAfter: ['', 'yesterday', '0', '2026-11-01', '2026-13-01T00:00:00Z', '%00'],
  createdBefore: ['', '+010000-01-01T00:00:00Z', '2026-11-01T00:00:00', '__proto__'],
  search: ['', '%20', '%00', 'a%00b', 'x'.repeat(201), 'a&search=b'],
};

/** The same of a list of keys. The first is a place in a history, which has another form. */
const noKeyValues: Record<string, string[]> = {
  limit: ['0', '101', '5&limit=5'],
  cursor: [
    id,
    `2026-11-01T00:00:00.000Z#${marker}`,
    `OWNER#x`,
    `KEY#2026-11-01T00:00:00.000Z#key_${'0'.repeat(32)}`,
  ]
    .map(cursorOf)
    .concat(marker, '%ff'),
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
  Object.entries(table).flatMap(([says, values]) =>
    spread(values, over, (way, value) => ({
      what: `${says}=${value.slice(0, 60)}`,
      way,
      request: ({ licenseId }): HostileRequest => ({
        query: `?${encodeURI(`${says}=${value}`).replaceAll('%25', '%')}${queryEnd(way, licenseId)}`,
      }),
      status: 400,
      code: 'INVALID_PARAMETERS' as const,
      says,
    })),
  );

export const hostileValues: Hostile[] = [
  ...valuesOf(noValues, lists, ofLicense),
  ...valuesOf(noKeyValues, keyLists, () => ''),
];

/** Places in a list that nobody has: they are well formed, and nothing is there. */
export const forgedCursors: Hostile[] = [
  ...auditLogs.map((way) => ({
    what: 'a cursor in an audit log',
    way,
    request: ({ licenseId }: Caller) => ({
      path: way.route.path.replace('{licenseId}', licenseId),
      query: `?cursor=${writeCursor(newRequestId(0))}`,
    }),
    status: 200,
  })),
  ...keyLists.map((way) => ({
    what: 'a cursor at a key',
    way,
    request: () => ({ query: `?cursor=${writeCursor(`2026-11-01T00:00:00.000Z#key_${'0'.repeat(32)}`)}` }),
    status: 200,
  })),
  ...spread([newRequestId(0), newRequestId(Date.now() + 1e9)], lists, (way, requestId) => ({
    what: `a cursor at ${requestId}`,
    way,
    request: ({ licenseId }) => ({ query: `?cursor=${writeCursor(requestId)}${ofLicense(way, licenseId)}` }),
    status: 200,
  })),
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

export const hostileLicenses: Hostile[] = [
  ...ofLicenses([marker, ...noLicenses], { status: 404, code: 'LICENSE_NOT_FOUND' }),
  ...ofLicenses(['', 'x&licenseId=x'], { status: 400, code: 'INVALID_PARAMETERS', says: 'licenseId' }),
];

const looksLikeNone = ['"LICENSE#x"', '"\\u0000"', '"\\ud800"', '"__proto__"', `"${marker}"`, '"../x"'];
const isNone = ['5', 'true', '["x"]', '{"toString":1}', '1e400'];

function idsInBodies(
  name: string,
  values: string[],
  over: Way[],
  status: number,
  code: ErrorCode,
): Hostile[] {
  return spread(values, over, (way, value) => ({
    what: `${name} = ${value}`,
    way,
    request: (caller) => {
      const others = membersOf(way, caller).filter((member) => !member.startsWith(`"${name}"`));
      return { body: objectOf([...others, `"${name}":${value}`]) };
    },
    status,
    code,
  }));
}

const sessionPosts = ways.filter((way) => isPost(way) && way.by === 'session');
const generating = ways.filter(isGenerating);
const inOpenAiWords = generating.filter(({ route }) => route.apiFormat === 'openai');
const inOwnWords = generating.filter((way) => !inOpenAiWords.includes(way));

export const hostileIds: Hostile[] = [
  ...idsInBodies('licenseId', looksLikeNone, sessionPosts, 404, 'LICENSE_NOT_FOUND'),
  ...idsInBodies('licenseId', [...isNone, 'null', '""'], sessionPosts, 400, 'INVALID_PARAMETERS'),
  ...idsInBodies('identityId', looksLikeNone, inOwnWords, 404, 'IDENTITY_NOT_FOUND'),
  ...idsInBodies('identityId', isNone, inOwnWords, 400, 'INVALID_PARAMETERS'),
  ...idsInBodies('model', looksLikeNone, inOpenAiWords, 404, 'IDENTITY_NOT_FOUND'),
  ...idsInBodies('model', isNone, inOpenAiWords, 400, 'INVALID_PARAMETERS'),
];
