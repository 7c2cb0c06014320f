import { newRequestId } from '../../shared/domain/ids.ts';
import type { ErrorCode } from '../../shared/errors.ts';
import { routes } from '../../shared/routes.ts';
import { marker, membersOf, objectOf, ways, type Hostile, type HostileRequest } from './hostile.ts';

const id = newRequestId(0);
const cursorOf = (text: string) => Buffer.from(text).toString('base64url');
const cursor = cursorOf(id);

const numbers =
  '0 00 -1 -0 %2B5 +5 5.0 5. .5 1e1 0x10 0b11 0o7 1_0 1,2 5n %205 5%20 5%0a 5%00 %D9%A1 %EF%BC%95 101 1000 ' +
  '9007199254740993 NaN Infinity null true [] {} [1] undefined 5&limit=6 5&limit=5 5&limit= %ff';
const texts = [`${id} `, `GEN#${id}`, id.toUpperCase(), `\u0000${id}`, '{"PK":"LICENSE#x"}', ''];

/** Values that the parameters of the history don't have. */
const noValues: Record<string, string[]> = {
  limit: ['', ...numbers.split(' '), '9'.repeat(4000)],
  cursor: texts
    .map(cursorOf)
    .concat('x', marker, id, '__proto__', '%ff', 'A'.repeat(4000), cursor.toLowerCase(), ` ${cursor}`)
    .concat(['=', '==', 'A', '%00', '%0a', `.${cursor}`, `&cursor=${cursor}`].map((after) => cursor + after))
    .concat(cursor.slice(0, -1), cursor.replace(/.$/, '~')),
  identityId: ['', '%00', 'IDENTITY%23x', '../x', 'x%20', 'x'.repeat(65), '%ff', 'x&identityId=x', '-x', 'é'],
  status: ['', 'completed', 'COMPLETED%00', 'COMPLETED&status=FAILED', '__proto__', 'toString', '0'],
  type: ['', 'TEXT_TO_IMAGE', 'constructor', 'reference%20', 'reference&type=reference'],
};

export const hostileValues: Hostile[] = ways
  .filter(({ route }) => route === routes.listGenerations)
  .flatMap((way) =>
    Object.entries(noValues).flatMap(([says, values]) =>
      values.map((value) => ({
        what: `${says}=${value.slice(0, 60)}`,
        way,
        request: ({ licenseId }): HostileRequest => ({
          query: `?${encodeURI(`${says}=${value}`).replaceAll('%25', '%')}${way.by === 'session' ? `&licenseId=${licenseId}` : ''}`,
        }),
        status: 400,
        code: 'INVALID_PARAMETERS' as const,
        says,
      })),
    ),
  );

const noLicenses = [
  'LICENSE%23x',
  '%00',
  '..',
  '../x',
  `${marker}%20`,
  '__proto__',
  '-x',
  '%ff',
  'x'.repeat(4000),
];

export const hostileLicenses: Hostile[] = ways
  .filter(({ by, route }) => by === 'session' && takesLicense(route.path, route.method))
  .flatMap((way) => [
    ...[...noLicenses, marker].map((licenseId): Hostile => ({
      what: licenseId.slice(0, 60),
      way,
      request: () => ({ query: `?licenseId=${licenseId}` }),
      status: 404,
      code: 'LICENSE_NOT_FOUND',
    })),
    ...['', 'x&licenseId=x'].map((licenseId): Hostile => ({
      what: `"${licenseId}"`,
      way,
      request: () => ({ query: `?licenseId=${licenseId}` }),
      status: 400,
      code: 'INVALID_PARAMETERS',
      says: 'licenseId',
    })),
  ]);

function takesLicense(path: string, method: string): boolean {
  return method === 'GET' && ['/generate', '/identities', '/usage'].includes(path);
}

const looksLikeNone = [
  '"LICENSE#x"',
  '"\\u0000"',
  '"\\ud800"',
  '"__proto__"',
  '"x "',
  `"${marker}"`,
  '"../x"',
];
const isNone = ['5', 'true', '[]', '["x"]', '{}', '{"toString":1}', '1e400'];

/** Ids in bodies. */
export const hostileIds: Hostile[] = ways
  .filter(({ route }) => route.method === 'POST')
  .flatMap((way) => {
    const bodies = (name: string, values: string[], status: number, code: ErrorCode): Hostile[] =>
      values.map((value) => ({
        what: `${name} = ${value}`,
        way,
        request: (caller) => {
          const others = membersOf(way, caller).filter((member) => !member.startsWith(`"${name}"`));
          return { body: objectOf([...others, `"${name}":${value}`]) };
        },
        status,
        code,
      }));
    const license = way.by === 'session';
    return [
      ...(license ? bodies('licenseId', looksLikeNone, 404, 'LICENSE_NOT_FOUND') : []),
      ...(license ? bodies('licenseId', [...isNone, 'null', '""'], 400, 'INVALID_PARAMETERS') : []),
      ...(way.route.streams
        ? bodies('identityId', [...looksLikeNone, ...isNone], 404, 'IDENTITY_NOT_FOUND')
        : []),
    ];
  });
