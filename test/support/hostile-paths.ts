import { newRequestId } from '../../shared/domain/ids.ts';
import type { ErrorCode } from '../../shared/errors.ts';
import { routes } from '../../shared/routes.ts';
import { marker, ways, type Hostile, type HostileRequest, type Way } from './hostile.ts';

const id = newRequestId(0);

/** Segments in the place of an id: each is one text, whatever it decodes to. */
const noIds = [
  marker,
  '%00',
  `${id}%00`,
  `${id}%0a`,
  `%20${id}`,
  `${id};v=1`,
  id.toUpperCase(),
  id.replaceAll('-', ''),
  `%7B${id}%7D`,
  '%2F',
  'a%2Fb',
  '%2e%2e%2fgenerate',
  '..',
  '.',
  '%5c..%5c',
  `GEN#${id}`,
  `GEN%23${id}`,
  'LICENSE%23x',
  'KEY%23key_00000000000000000000000000000000',
  'key_0000000000000000000000000000000G',
  'KEY_00000000000000000000000000000000',
  'key_00000000000000000000000000000000%00',
  '*',
  '%25',
  '%2500',
  '%1b[2J',
  '%0d%0aX-Injected:%201',
  '%EF%BF%BD',
  '%E2%80%AE',
  '%F0%9F%98%80',
  '__proto__',
  'constructor',
  '{requestId}',
  '%24%7Bjndi:ldap:%2F%2Fa.test%7D',
  "'%20OR%20'1'='1",
  'undefined',
  'a'.repeat(8000),
  '%41'.repeat(3000),
];

/** What is no segment, or more than one. */
const noSegments = [
  '',
  '%',
  '%zz',
  '%f',
  '%ff',
  '%c0%af',
  '%ed%a0%80',
  `${id}%`,
  `${id}/`,
  `${id}/x`,
  '/x',
  'x//',
];

function missing(way: Way, what: string, code: ErrorCode, request: HostileRequest): Hostile {
  return { what, way, request: () => request, status: 404, code };
}

const codeOf: Record<string, ErrorCode> = {
  [routes.getGeneration.path]: 'REQUEST_NOT_FOUND',
  [routes.revokeKey.path]: 'KEY_NOT_FOUND',
};

export const hostilePaths: Hostile[] = ways.flatMap((way) => {
  const { path } = way.route;
  const [before, parameter] = path.split(/\{\w+\}/);
  if (parameter !== undefined) {
    return [
      ...noIds.map((segment) => missing(way, segment, codeOf[path]!, { path: before + segment })),
      ...noSegments.map((rest) => missing(way, `no segment: ${rest}`, 'NOT_FOUND', { path: before + rest })),
    ];
  }
  const escaped = `/%${path.charCodeAt(1).toString(16)}`;
  return [
    `${path}/`,
    `${path}//`,
    `/${path}`,
    path.replace(/.$/, '//$&'),
    `/.${path}`,
    `/${marker}/..${path}`,
    `/../v1${path}`,
    `${path}%00`,
    `${path}%20`,
    `${path}%2F`,
    `${path}%3Fx=1`,
    `${path}.json`,
    `${path};v=1`,
    `${path}#${marker}`,
    path.toUpperCase(),
    `/%2F${path.slice(1)}`,
    `${escaped}%zz${path.slice(2)}`,
    `${path}${'a'.repeat(8000)}`,
  ].map((variant) => missing(way, variant, 'NOT_FOUND', { path: variant }));
});

export const methods = [
  'HEAD',
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'TRACE',
  'OPTIONS',
  'PROPFIND',
  'QUERY',
];

/** The methods that a path is not there for. */
export const hostileMethods: Hostile[] = ways.flatMap((way) => {
  const taken = ways.filter(({ route }) => route.path === way.route.path).map(({ route }) => route.method);
  return methods
    .filter((method) => !taken.some((one) => one === method))
    .map((method) => missing(way, method, 'NOT_FOUND', { method }));
});

/** Queries that no route takes, and what their refusal names. */
const noQueries: Record<string, string> = {
  [`${marker}=1`]: `"${marker}"`,
  [`${marker}`]: `"${marker}"`,
  '=1': '""',
  '?x=1': '"?x"',
  '__proto__=1': '"__proto__"',
  '__proto__[limit]=1': '"__proto__[limit]"',
  'constructor=1&toString=2': '"toString"',
  'limit[]=1': '"limit[]"',
  'limit[0]=1&limit[1]=2': '"limit[1]"',
  'limit.x=1': '"limit.x"',
  'LIMIT=1': '"LIMIT"',
  'limit%00=1': '"limit?"',
  'limit%20=1': '"limit "',
  '+limit=1': '" limit"',
  'limit;cursor=1': '"limit;cursor"',
  '%zz=1': '"%zz"',
  '%=%': '"%"',
  '%ff=%ff': '"?"',
  '%1b[2J%c2%9b%e2%80%ae=1': '"?[2J??"',
  'x%0d%0ay=1': '"x??y"',
  [`${'a'.repeat(4000)}=1`]: `"${'a'.repeat(40)}"`,
  [Array.from({ length: 300 }, (_, i) => `x${i}=1`).join('&')]: 'and more',
};

export const hostileQueries: Hostile[] = ways.flatMap((way) =>
  Object.entries(noQueries).map(([query, says]) => ({
    what: query.slice(0, 60),
    way,
    request: () => ({ query: `?${query}` }),
    status: 400,
    code: 'INVALID_PARAMETERS',
    says,
  })),
);
