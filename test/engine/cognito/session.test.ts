import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  authorizeUrl,
  ben,
  Browser,
  claimsOf,
  clientId,
  exchange,
  pkce,
  refresh,
  returned,
  signIn,
  startPool,
} from './support.ts';
import type { ServedPool, Visit } from './support.ts';

let pool: ServedPool;
let browser: Browser;

beforeAll(async () => {
  pool = await startPool();
});
beforeEach(() => {
  browser = new Browser();
});
afterAll(() => pool.close());

const ask = (changes = {}): Promise<Visit> => browser.open(authorizeUrl(pool, pkce().challenge, changes));
const signOut = (changes = {}): Promise<Visit> =>
  browser.visit(
    `${pool.baseUrl}/logout?${new URLSearchParams({ client_id: clientId, logout_uri: `${pool.baseUrl}/signed-out`, ...changes })}`,
  );

const sessionCookie = () => [...browser.cookies].find(([name]) => name.includes('session'))![1];

describe('the session of a browser', () => {
  test('makes a second sign-in go straight back, as the same account and sign-in time', async () => {
    const first = await signIn(pool, { browser });
    const { verifier, challenge } = pkce();
    const back = await browser.visit(authorizeUrl(pool, challenge, { nonce: 'another' }));
    const second = await exchange(pool, returned(back).code!, verifier);
    const [before, after] = [claimsOf(first.body.id_token), claimsOf(second.body.id_token)];
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
    const expires = (): number => Date.parse(/expires=([^;]+)/.exec(sessionCookie().attributes)![1]!);
    const before = expires();
    expect(before).toBeLessThanOrEqual(Date.now() + 3_600_000);
    // Cookies expire at a whole second.
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect(returned(await ask())).toHaveProperty('code');
    expect(expires()).toBe(before);
  });

  test('is asked again with prompt=login, and may become another account', async () => {
    await signIn(pool, { browser });
    const again = await signIn(pool, { browser, account: ben, changes: { prompt: 'login' } });
    expect(claimsOf(again.body.id_token).email).toBe(ben.email);
    const { verifier, challenge } = pkce();
    const back = await browser.visit(authorizeUrl(pool, challenge));
    const third = await exchange(pool, returned(back).code!, verifier);
    expect(claimsOf(third.body.id_token).email).toBe(ben.email);
  });

  test('answers prompt=none: a code with it, login_required without', async () => {
    expect(returned(await ask({ prompt: 'none' }))).toMatchObject({
      error: 'login_required',
      state: 'the state',
    });
    await signIn(pool, { browser });
    expect(returned(await ask({ prompt: 'none' }))).toHaveProperty('code');
  });

  test('is worth nothing when its cookie is made up', async () => {
    await signIn(pool, { browser });
    for (const cookie of browser.cookies.values()) cookie.value = `x${cookie.value.slice(1)}`;
    expect(await ask()).toMatchObject({ status: 200, url: `${pool.baseUrl}/login` });
  });
});

describe('signing out', () => {
  test('ends the session, also for a copy of its cookie, and returns to the registered address', async () => {
    await signIn(pool, { browser });
    const copy = new Browser();
    for (const [name, cookie] of browser.cookies) copy.cookies.set(name, cookie);
    expect(await signOut()).toMatchObject({ status: 302, location: `${pool.baseUrl}/signed-out` });
    expect([...browser.cookies.keys()].filter((name) => name.includes('session'))).toEqual([]);
    for (browser of [browser, copy]) {
      expect(returned(await ask({ prompt: 'none' }))).toMatchObject({ error: 'login_required' });
    }
  });

  test('leaves tokens alone, as in Cognito', async () => {
    const { body } = await signIn(pool, { browser });
    await signOut();
    expect(await refresh(pool, body.refresh_token!)).toMatchObject({ status: 200 });
  });

  test('returns without a session, too', async () => {
    expect(await signOut()).toMatchObject({ status: 302, location: `${pool.baseUrl}/signed-out` });
  });

  test.each([
    ['to an unregistered address', () => ({ logout_uri: 'https://elsewhere.example/' })],
    [
      'to an address that starts like a registered one',
      () => ({ logout_uri: `${pool.baseUrl}/signed-outside` }),
    ],
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
