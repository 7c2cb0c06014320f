import { newRequestId } from '../../shared/base/ids.ts';
import { errorCodes, type ErrorCode } from '../../shared/base/errors.ts';
import { routes } from '../../shared/routes/routes.ts';
import { marker, spread, ways, type Hostile, type HostileRequest, type Way } from './hostile.ts';

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
  '.',
  `GEN%23${id}`,
  'key_0000000000000000000000000000000G',
  '%2500',
  '%1b[2J',
  '%0d%0aX-Injected:%201',
  '%E2%80%AE',
  '__proto__',
  'a'.repeat(8000),
];

/** What is no segment, or more than one. */
const noSegments = ['', '%', '%ff', '%c0%af', `${id}/`, `${id}/x`, 'x//'];

function missing(way: Way, what: string, code: ErrorCode, request: HostileRequest): Hostile {
  return { what, way, request: () => request, status: errorCodes[code].status, code };
}

const codeOf: Record<string, ErrorCode> = {
  [routes.getGeneration.path]: 'REQUEST_NOT_FOUND',
  [routes.revokeKey.path]: 'KEY_NOT_FOUND',
  [routes.listActivity.path]: 'LICENSE_NOT_FOUND',
  [routes.listRefusals.path]: 'LICENSE_NOT_FOUND',
  [routes.getOpenAiModel.path]: 'IDENTITY_NOT_FOUND',
};

const idWays = ways.filter(({ route }) => route.path.includes('{'));
const withId = ({ route }: Way, segment: string) => route.path.replace(/\{\w+\}/, () => segment);

/** Spellings of a path that are not that path. */
const variants: ((path: string) => string)[] = [
  (path) => `${path}/`,
  (path) => `/${path}`,
  (path) => `/.${path}`,
  (path) => `/${marker}/..${path}`,
  (path) => `/../v1${path}`,
  (path) => `${path}%00`,
  (path) => `${path}%2F`,
  (path) => `${path};v=1`,
  (path) => path.toUpperCase(),
  (path) => `/%${path.charCodeAt(1).toString(16)}%zz${path.slice(2)}`,
  (path) => `${path}${'a'.repeat(8000)}`,
];

export const hostilePaths: Hostile[] = [
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
export const hostileMethods: Hostile[] = ways.flatMap((way) => {
  const taken = ways.filter(({ route }) => route.path === way.route.path).map(({ route }) => route.method);
  return methods
    .filter((method) => !taken.some((one) => one === method))
    .map((method) =>
      missing(way, method, way.route.refusesOthers ? 'METHOD_NOT_ALLOWED' : 'NOT_FOUND', { method }),
    );
});

/** Queries that no route takes, and what their refusal names. Unit tests hold how any name is told. */
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

export const hostileQueries: Hostile[] = spread(Object.entries(noQueries), ways, (way, [query, says]) => ({
  what: query.slice(0, 60),
  way,
  request: () => ({ query: `?${query}` }),
  status: 400,
  code: 'INVALID_PARAMETERS',
  says,
}));
