import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newApiKey } from '../../shared/keys/api-key.ts';
import { routes } from '../../shared/routes/routes.ts';
import type { Route } from '../../shared/routes/route.ts';
import { expectError, inOurShape } from '../support/answers.ts';
import { noSessions, openForger, type Forger } from '../support/forged-sessions.ts';
import { ways, type Way } from '../support/hostile.ts';
import { sendRaw, type RawAnswer } from '../support/raw-request.ts';
import { newAccount, service } from './fixture.ts';

// The requests of `hostile.test.ts` hold what the Authorization header may look like, for every route.

const owner = 'owner@example.test';
const { key } = await newAccount();
let forger: Forger;

beforeAll(async () => void (forger = await openForger(service.dataDir, owner)));
afterAll(() => forger.close());

const withKey = ways.filter(({ by }) => by === 'key');
const withSession = ways.filter(({ by }) => by === 'session');

const send = ({ route }: Way, headers: [string, string][], query = '') =>
  sendRaw(service.ready.baseUrl, {
    method: route.method,
    path: route.path.replace(/\{\w+\}/g, 'x') + query,
    headers,
  });
const authorize = (way: Way, value: string) => send(way, [['authorization', value]]);
/** Of an account that no other test uses up. */
const newToken = () => forger.token({ claims: { sub: randomUUID() } });

function expectRefused({ status, headers, text }: RawAnswer, code: string): void {
  expectError({ status, headers, body: inOurShape(JSON.parse(text)) }, 401, code);
  expect(text).not.toMatch(/jw[tks]|\bkid\b|signature|issuer|aws|pool|Error:|\.[tj]s\b/i);
}

function expectAccepted({ status, text }: RawAnswer): void {
  expect([200, 201, 400, 404]).toContain(status);
  expect(text).not.toMatch(/INVALID_(SESSION|API_KEY)/);
}

const schemes = ['Bearer ', 'bearer ', 'BEARER ', 'Bearer    '];
/** Other places where clients put credentials. */
const elsewhere = (credential: string): [string, string][] => [
  ['x-api-key', credential],
  ['x-access-token', credential],
  ['x-amz-security-token', credential],
  ['proxy-authorization', `Bearer ${credential}`],
  ['cookie', `access_token=${credential}; key=${credential}`],
];
const parameters = ['key', 'access_token', 'token', 'authorization'];

/** Both kinds of routes that take sessions: with this credential only, and with keys too. */
const [sessionOnly] = withSession.filter(({ route }) => route.auth === 'session') as [Way];
const [sessionOrKey] = withSession.filter(({ route }) => route.auth === 'key_or_session') as [Way];

test('every route is asked, and each kind of access has one', () => {
  const kinds = { key: withKey, session: withSession, none: ways.filter(({ by }) => by === null) };
  const asked = new Set(Object.values(kinds).flatMap((list) => list.map(({ route }) => route)));
  expect(asked).toEqual(new Set<Route>(Object.values(routes)));
  expect(Object.values(kinds).map(({ length }) => length)).not.toContain(0);
});

describe('a credential', () => {
  const credentialOf = (way: Way) => (way.by === 'key' ? key : newToken());

  test.each([...withKey, ...withSession])(
    'is taken with bearer in any case and several spaces: $name',
    async (way) => {
      // Three routes generate: one key's requests of a minute would not do for all.
      const credential = way.by === 'key' ? (await newAccount()).key : newToken();
      for (const scheme of schemes) expectAccepted(await authorize(way, scheme + credential));
    },
  );

  test.each([
    ['INVALID_API_KEY', withKey[0]!],
    ['INVALID_SESSION', sessionOnly],
  ])('is taken from the Authorization header only, or it is %s', async (code, way) => {
    const credential = credentialOf(way);
    for (const header of elsewhere(credential)) expectRefused(await send(way, [header]), code);
    for (const name of parameters) expectRefused(await send(way, [], `?${name}=${credential}`), code);
  });
});

describe('an API key', () => {
  test.each(withKey)('is refused when it was never made or is mistyped: $name', async (way) => {
    const mistyped = [key.toLowerCase(), key.slice(0, -1), `${key}0`, key.replace('_live_', '_test_')];
    for (const wrong of [newApiKey(), ...mistyped])
      expectRefused(await authorize(way, `Bearer ${wrong}`), 'INVALID_API_KEY');
  });

  test('that is refused by itself is INVALID_API_KEY in the same words, whatever the reason', async () => {
    const { expired, revoked } = service.ready.keys;
    const sentences = new Set<string>();
    for (const bad of ['nonsense', newApiKey(), expired, revoked]) {
      const answer = await authorize(withKey[0]!, `Bearer ${bad}`);
      expectRefused(answer, 'INVALID_API_KEY');
      sentences.add(answer.text);
    }
    expect(sentences.size).toBe(1);
  });
});

/** One of each kind: all routes verify sessions by the same code. */
const samples = [
  'an expired token',
  'alg none without a signature',
  "another pool's key under this pool's kid",
  'an ID token',
];

describe('a session', () => {
  test.each(Object.keys(noSessions))('is refused, in the words of every refusal: %s', async (what) => {
    for (const way of [sessionOnly, sessionOrKey]) {
      const refusal = await authorize(way, 'Bearer not.a.token');
      const answer = await authorize(way, `Bearer ${await noSessions[what]!(forger)}`);
      expectRefused(answer, 'INVALID_SESSION');
      expect(answer.text).toBe(refusal.text);
      expect([...answer.headers.keys()]).toEqual([...refusal.headers.keys()]);
    }
  });

  test.each(withSession)('is verified by $name', async (way) => {
    for (const what of samples) {
      const token = await noSessions[what]!(forger);
      expectRefused(await authorize(way, `Bearer ${token}`), 'INVALID_SESSION');
    }
  });

  test('is never checked with a key that the token itself points to', () => {
    expect(forger.otherKeysAsked()).toBe(0);
  });
});
