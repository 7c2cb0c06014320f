import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { routes, type Route } from '../../shared/routes.ts';
import { expectError } from '../support/answers.ts';
import { fixedTableOf } from '../support/books.ts';
import { removeFolder, startService, type RunningService } from '../support/service.ts';
import { openForger, signIn, testSessions, type SessionWorld } from '../support/session-suite.ts';

const owner = 'owner@example.test';

let service: RunningService;
let world: SessionWorld;

beforeAll(async () => {
  service = await startService();
  const table = await fixedTableOf(service.dataDir);
  const forger = await openForger(service.dataDir, owner);
  world = { baseUrl: service.ready.baseUrl, table, forger };
});

afterAll(async () => {
  world.forger.close();
  await service.end();
  removeFolder(service.dataDir);
});

const table: Route[] = Object.values(routes);
const withAuth = (auth: Route['auth']): Route[] => table.filter((route) => route.auth === auth);

/** By what they accept. A new kind of access has no place here until its tests were written. */
const walked = {
  session: withAuth('session'),
  key_or_session: withAuth('key_or_session'),
  key: withAuth('key'),
  none: withAuth('none'),
} satisfies Record<Route['auth'], Route[]>;

test('no route is left out, and each kind of access has one', () => {
  expect(new Set(Object.values(walked).flat())).toEqual(new Set(table));
  expect(Object.values(walked).map((found) => found.length)).not.toContain(0);
});

describe.each([...walked.session, ...walked.key_or_session])('the session of $method $path', (route) => {
  testSessions(route, () => world);
});

test.each(walked.key)('a good session is no API key for $method $path', async ({ method, path }) => {
  const body = { identityId: service.ready.identities.aurora, prompt: 'a quiet test' };
  const answer = await service.api({
    method,
    path: path.replace(/\{\w+\}/g, 'x'),
    key: world.forger.token(),
    ...(method === 'POST' ? { body } : {}),
  });
  expectError(answer, 401, 'INVALID_API_KEY');
});

test('what needs no key and no session ignores a bad one', async () => {
  for (const { path } of walked.none) {
    expect((await service.api({ path, key: 'not.a.session' })).status).toBe(200);
  }
});

describe('an account of ready.json', () => {
  const expectOwner = async ({ api, ready }: RunningService, accessToken: string) => {
    const { status, body } = await api({ path: '/licenses', key: accessToken });
    expect([status, body.licenses?.[0]?.licenseId]).toEqual([200, ready.licenses.pro]);
  };

  test('signs in with its password for an hour, and has its own access records', async () => {
    const { access_token: accessToken, id_token: idToken } = await signIn(service.ready, owner);
    const { exp, iat } = decodeJwt(accessToken);
    expect(exp! - iat!).toBe(3600);
    await expectOwner(service, accessToken);
    expectError(await service.api({ path: '/licenses', key: idToken }), 401, 'INVALID_SESSION');
  });

  test.each([5, 86_400])('signs in for as long as --token-lifetime %i says', async (seconds) => {
    const other = await startService({ args: ['--token-lifetime', String(seconds)] });
    const { access_token: accessToken } = await signIn(other.ready, owner);
    const { exp, iat } = decodeJwt(accessToken);
    expect(exp! - iat!).toBe(seconds);
    await expectOwner(other, accessToken);
    await other.end();
    removeFolder(other.dataDir);
  });
});
