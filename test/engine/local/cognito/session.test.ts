import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  authorizeUrl,
  ben,
  Browser,
  claimsOf,
  clientId,
  exchange,
  later,
  pkce,
  refresh,
  returned,
  signIn,
  usePool,
  type Visit,
} from './support.ts';

const pool = usePool();
let browser: Browser;

beforeEach(() => {
  browser = new Browser();
});

const ask = (changes = {}): Promise<Visit> => browser.open(authorizeUrl(pool, pkce().challenge, changes));
const signOut = (changes = {}): Promise<Visit> => {
  const parameters = { client_id: clientId, logout_uri: `${pool.baseUrl}/signed-out`, ...changes };
  return browser.visit(`${pool.baseUrl}/logout?${new URLSearchParams(parameters)}`);
};
/** Goes to the application and back without the form. @returns the claims of the ID token. */
async function goStraightBack(): Promise<Record<string, unknown>> {
  const { verifier, challenge } = pkce();
  const back = await browser.visit(authorizeUrl(pool, challenge, { nonce: 'another' }));
  return claimsOf((await exchange(pool, returned(back).code!, verifier)).body.id_token);
}
const sessionCookie = () => [...browser.cookies].find(([name]) => name.includes('session'))![1];

describe('the session of a browser', () => {
  test('makes a second sign-in go straight back, as the same account and sign-in time', async () => {
    const before = claimsOf((await signIn(pool, { browser })).body.id_token);
    const after = await goStraightBack();
    expect(after).toMatchObject({ sub: before.sub, auth_time: before.auth_time, nonce: 'another' });
    expect(after.origin_jti).not.toBe(before.origin_jti);
  });

  test('is a cookie that scripts and other sites cannot use', async () => {
    await signIn(pool, { browser });
    const { path, attributes } = sessionCookie();
    expect(path).toBe('/');
    expect(attributes).toMatch(/samesite=lax/i);
    expect(attributes).toMatch(/httponly/i);
  });

  test('ends an hour after the sign-in, however often it is used', async () => {
    await signIn(pool, { browser });
    const used = await later(59 * 60_000, () => ask());
    expect(returned(used)).toHaveProperty('code');
    const form = await later(60 * 60_000, () => ask());
    expect(form).toMatchObject({ status: 200, url: `${pool.baseUrl}/login` });
  });

  test('is asked again with prompt=login, and may become another account', async () => {
    await signIn(pool, { browser });
    const again = await signIn(pool, { browser, account: ben, changes: { prompt: 'login' } });
    expect(claimsOf(again.body.id_token).email).toBe(ben.email);
    expect((await goStraightBack()).email).toBe(ben.email);
  });

  test('answers prompt=none: a code with it, login_required without', async () => {
    const without = returned(await ask({ prompt: 'none' }));
    expect(without).toMatchObject({ error: 'login_required', state: 'the state' });
    await signIn(pool, { browser });
    expect(returned(await ask({ prompt: 'none' }))).toHaveProperty('code');
  });

  test('is worth nothing when its cookie is made up', async () => {
    await signIn(pool, { browser });
    for (const cookie of browser.cookies.values()) cookie.value = `${cookie.value.slice(0, -1)}~`;
    expect(await ask()).toMatchObject({ status: 200, url: `${pool.baseUrl}/login` });
  });
});

describe('signing out', () => {
  const signedOut = () => ({ status: 302, location: `${pool.baseUrl}/signed-out` });

  test('ends the session, also for a copy of its cookie, but no token, as in Cognito', async () => {
    const { body } = await signIn(pool, { browser });
    const copy = new Browser();
    for (const [name, cookie] of browser.cookies) copy.cookies.set(name, cookie);
    expect(await signOut()).toMatchObject(signedOut());
    expect([...browser.cookies.keys()].filter((name) => name.includes('session'))).toEqual([]);
    for (browser of [browser, copy]) {
      expect(returned(await ask({ prompt: 'none' }))).toMatchObject({ error: 'login_required' });
    }
    expect(await refresh(pool, body.refresh_token!)).toMatchObject({ status: 200 });
    // Without a session, too.
    expect(await signOut()).toMatchObject(signedOut());
  });

  test.each([
    ['to an unregistered address', () => ({ logout_uri: 'https://elsewhere.example/' })],
    ['to an address that starts like one', () => ({ logout_uri: `${pool.baseUrl}/signed-outside` })],
    ['to no address', () => ({ logout_uri: '' })],
    ['for another client', () => ({ client_id: 'other' })],
  ])('%s is refused and changes nothing', async (_name, changes) => {
    await signIn(pool, { browser });
    const page = await signOut(changes());
    expect(page).toMatchObject({ status: 400, location: '' });
    expect(page.text).toContain('You are still signed in');
    expect(returned(await ask({ prompt: 'none' }))).toHaveProperty('code');
  });
});
