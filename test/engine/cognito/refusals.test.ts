import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sendRaw } from '../../support/raw-request.ts';
import {
  ada,
  askTokens,
  authorizeUrl,
  Browser,
  exchange,
  pkce,
  refresh,
  returned,
  startPool,
} from './support.ts';
import type { ServedPool, Visit } from './support.ts';

let pool: ServedPool;

beforeAll(async () => {
  pool = await startPool();
});
afterAll(() => pool.close());

const ask = (changes: Record<string, string | undefined>): Promise<Visit> =>
  new Browser().open(authorizeUrl(pool, pkce().challenge, changes));

async function newCode(): Promise<{ code: string; verifier: string }> {
  const { verifier, challenge } = pkce();
  const browser = new Browser();
  const page = await browser.open(authorizeUrl(pool, challenge));
  return { code: returned(await browser.submit(page, ada)).code!, verifier };
}

describe('an authorization request', () => {
  test.each([
    [
      'an unknown client',
      () => ({ client_id: 'nobody' }),
      'The application that sent you here is not known.',
    ],
    ['no client', () => ({ client_id: undefined }), 'asked for something that is not possible'],
    [
      'an unregistered address',
      () => ({ redirect_uri: 'https://elsewhere.example/callback' }),
      'The address to return to after signing in is not registered.',
    ],
    [
      'an address that differs in its query',
      () => ({ redirect_uri: `${pool.baseUrl}/callback?x=1` }),
      'The address to return to after signing in is not registered.',
    ],
    ['no address', () => ({ redirect_uri: undefined }), 'asked for something that is not possible'],
  ])('with %s is answered with a page and never redirected', async (_name, changes, sentence) => {
    const page = await ask(changes());
    expect(page).toMatchObject({ status: 400, location: '' });
    expect(page.text).toContain(sentence);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  });

  test.each([
    ['no PKCE challenge', { code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
    ['a plain PKCE challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['an unknown scope', { scope: 'openid admin' }, 'invalid_scope'],
    [
      'the scope offline_access, which Cognito does not have',
      { scope: 'openid offline_access' },
      'invalid_scope',
    ],
    ['no scope', { scope: undefined, nonce: undefined }, 'invalid_scope'],
    ['the implicit grant', { response_type: 'token' }, 'unsupported_response_type'],
  ])('with %s is told so to the application', async (_name, changes, error) => {
    expect(returned(await ask(changes))).toMatchObject({ error, state: 'the state' });
  });

  test('with markup in it is answered without that markup', async () => {
    for (const name of ['client_id', 'redirect_uri', 'scope', 'prompt', 'response_type', 'login_hint']) {
      const { text } = await ask({ [name]: `"><script>alert(1)</script>`, redirect_uri: undefined });
      expect(text).not.toContain('<script');
    }
  });
});

describe('a code', () => {
  test('needs the verifier of its challenge', async () => {
    const { code } = await newCode();
    expect(await exchange(pool, code, pkce().verifier)).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    });
  });

  test('needs a verifier', async () => {
    const { code } = await newCode();
    const form = { grant_type: 'authorization_code', redirect_uri: `${pool.baseUrl}/callback`, code };
    expect(await askTokens(pool, form)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });

  test('needs the address that it was sent to, and its client', async () => {
    const { code, verifier } = await newCode();
    const form = { grant_type: 'authorization_code', code, code_verifier: verifier };
    const elsewhere = { ...form, redirect_uri: `${pool.baseUrl}/elsewhere` };
    expect(await askTokens(pool, elsewhere)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    const foreign = { ...form, redirect_uri: `${pool.baseUrl}/callback`, client_id: 'nobody' };
    expect(await askTokens(pool, foreign)).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
  });

  test('works once; a second use ends what the first one gave', async () => {
    const { code, verifier } = await newCode();
    const { body } = await exchange(pool, code, verifier);
    expect(await exchange(pool, code, verifier)).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    });
    expect(await refresh(pool, body.refresh_token!)).toMatchObject({ body: { error: 'invalid_grant' } });
  });
});

describe('a token request', () => {
  test.each([
    ['another grant', { grant_type: 'client_credentials' }, 'unsupported_grant_type'],
    ['a password', { grant_type: 'password', username: ada.email }, 'unsupported_grant_type'],
    ['nothing', {}, 'invalid_request'],
  ])('for %s is refused', async (_name, form, error) => {
    expect(await askTokens(pool, form)).toMatchObject({ status: 400, body: { error } });
  });

  test('that is too large or no form is refused, in JSON for every client', async () => {
    const bodies: [string, string][] = [
      ['application/x-www-form-urlencoded', `code=${'x'.repeat(2_000_000)}`],
      ['application/json', '{}'],
      ['text/plain', 'x'],
    ];
    for (const [type, body] of bodies) {
      const headers = { 'content-type': type, accept: 'text/html' };
      const answer = await fetch(`${pool.baseUrl}/oauth2/token`, { method: 'POST', headers, body });
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ error: 'invalid_request' });
    }
  });

  test('is answered to the pages of a registered application only', async () => {
    const { code, verifier } = await newCode();
    const fields = {
      client_id: 'dashboard-client',
      grant_type: 'authorization_code',
      redirect_uri: `${pool.baseUrl}/callback`,
      code,
      code_verifier: verifier,
    };
    const send = (origin: string): Promise<Response> =>
      fetch(`${pool.baseUrl}/oauth2/token`, {
        method: 'POST',
        headers: { origin },
        body: new URLSearchParams(fields),
      });
    const refused = await send('https://elsewhere.example');
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([400, null]);
    const answered = await send(pool.baseUrl);
    expect([answered.status, answered.headers.get('access-control-allow-origin')]).toEqual([
      200,
      pool.baseUrl,
    ]);
  });
});

describe('any request', () => {
  test.each([
    ['/oauth2/token', 'GET', 'POST, OPTIONS'],
    ['/oauth2/authorize', 'POST', 'GET, HEAD'],
    ['/oauth2/userInfo', 'DELETE', 'GET, POST'],
    ['/login', 'PUT', 'GET, HEAD, POST'],
    ['/logout', 'POST', 'GET'],
    ['/us-east-1_local/.well-known/jwks.json', 'POST', 'GET, HEAD'],
  ])('to %s with the method %s is told what is allowed', async (path, method, allow) => {
    const answer = await fetch(`${pool.baseUrl}${path}`, { method });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow]);
  });

  test('for a path that the pool does not have is answered with a page', async () => {
    for (const path of [
      '/oauth2/introspect',
      '/oauth2/',
      '/us-east-1_local',
      '/us-east-1_local/.well-known/x',
    ]) {
      const answer = await fetch(`${pool.baseUrl}${path}`);
      expect(answer.status).toBe(404);
      expect(await answer.text()).toContain('There is no such page');
    }
  });

  test('for a path beside the pool is left to the application', async () => {
    for (const path of [
      '/',
      '/loginx',
      '/login/x',
      '/oauth2x',
      '/callback',
      '/.well-known/openid-configuration',
    ]) {
      expect(await (await fetch(`${pool.baseUrl}${path}`)).text()).toBe('application');
    }
  });

  test('with broken escapes, repeated parameters or broken cookies is answered', async () => {
    const address = authorizeUrl(pool, pkce().challenge).slice(pool.baseUrl.length);
    const requests = [
      { path: '/login?%ff%', status: 400 },
      { path: '/logout?logout_uri=%', status: 400 },
      { path: '/oauth2/authorize?client_id=%ff', status: 400 },
      { path: '/oauth2/authorize/not-a-sign-in', status: 400 },
      { path: `${address}&client_id=other`, status: 400 },
      { path: '/login', status: 400, cookie: 'cognito-sign-in=%; ;=;x' },
    ];
    for (const { path, status, cookie = '' } of requests) {
      const answer = await sendRaw(pool.baseUrl, { path: path.slice(1), headers: [['cookie', cookie]] });
      expect([path, answer.status]).toEqual([path, status]);
      expect(answer.text).toContain('<h1>');
    }
  });
});
