import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { signAccessToken } from '../../../../local/cognito/tokens.ts';
import {
  ada,
  askTokens,
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
  startPool,
  usePool,
  type TokenAnswer,
} from './support.ts';

const pool = usePool({ otherRedirectUris: ['myapp://back'] });
let tokens: TokenAnswer['body'];
const startedSeconds = Math.floor(Date.now() / 1000);

beforeAll(async () => {
  ({ body: tokens } = await signIn(pool));
});

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const time = (): unknown => expect.any(Number);
const json = async (url: string): Promise<any> => (await fetch(url)).json();
const invalidGrant = { status: 400, body: { error: 'invalid_grant' } };

/** As anybody checks a token who reads the published keys. @throws when it is not the pool's */
const verify = (token: string) =>
  jwtVerify(token, createRemoteJWKSet(new URL(`${pool.issuer}/.well-known/jwks.json`)), {
    issuer: pool.issuer,
  });

test('the published documents name the endpoints and the public key, for any page to read', async () => {
  const { baseUrl, issuer } = pool;
  expect(issuer).toBe(`${baseUrl}/us-east-1_local`);
  expect(await json(`${issuer}/.well-known/openid-configuration`)).toMatchObject({
    issuer,
    authorization_endpoint: `${baseUrl}/oauth2/authorize`,
    token_endpoint: `${baseUrl}/oauth2/token`,
    userinfo_endpoint: `${baseUrl}/oauth2/userInfo`,
    revocation_endpoint: `${baseUrl}/oauth2/revoke`,
    end_session_endpoint: `${baseUrl}/logout`,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    scopes_supported: ['openid', 'email', 'profile'],
  });
  const { kty, n, e, kid } = pool.options.signingKey;
  const { keys } = await json(`${pool.issuer}/.well-known/jwks.json`);
  // Not one member of its private half.
  expect(keys).toEqual([{ kty, n, e, kid, alg: 'RS256', use: 'sig' }]);
  const { headers } = await fetch(`${pool.issuer}/.well-known/jwks.json`);
  expect(headers.get('access-control-allow-origin')).toBe('*');
  expect(headers.get('cache-control')).toBe('public, max-age=3600');
});

describe('an access token', () => {
  test('has the claims of a Cognito access token and no others', () => {
    const claims = claimsOf(tokens.access_token);
    expect(claims).toEqual({
      sub: ada.sub,
      iss: pool.issuer,
      client_id: clientId,
      origin_jti: expect.stringMatching(uuid),
      event_id: expect.stringMatching(uuid),
      token_use: 'access',
      scope: 'openid email profile',
      auth_time: time(),
      iat: time(),
      exp: time(),
      jti: expect.stringMatching(uuid),
      username: ada.sub,
      version: 2,
    });
    expect(Number(claims.exp) - Number(claims.iat)).toBe(3600);
    expect(claims.auth_time).toBeGreaterThanOrEqual(startedSeconds);
    expect(claims.auth_time).toBeLessThanOrEqual(Number(claims.iat));
    const { kid } = pool.options.signingKey;
    expect(decodeProtectedHeader(tokens.access_token!)).toEqual({ kid, alg: 'RS256' });
  });

  // Who else's tokens the service refuses: test/support/forged-sessions.ts.
  test('is signed with the published key, also one that was made without a sign-in', async () => {
    await expect(verify(tokens.access_token!)).resolves.toMatchObject({ payload: { sub: ada.sub } });
    const settings = { ...pool.options, issuer: pool.issuer, account: ben, lifetimeSeconds: 60 };
    const token = await signAccessToken(settings);
    await expect(verify(token)).resolves.toMatchObject({ payload: { sub: ben.sub, username: ben.sub } });
    expect(Object.keys(claimsOf(token)).sort()).toEqual(Object.keys(claimsOf(tokens.access_token)).sort());
  });
});

describe('an ID token', () => {
  test('has the claims of a Cognito ID token, and belongs to its access token', () => {
    const access = claimsOf(tokens.access_token);
    const hash = createHash('sha256').update(tokens.access_token!).digest().subarray(0, 16);
    expect(claimsOf(tokens.id_token)).toEqual({
      sub: ada.sub,
      aud: clientId,
      iss: pool.issuer,
      token_use: 'id',
      email: ada.email,
      email_verified: true,
      'cognito:username': ada.sub,
      nonce: 'the nonce',
      at_hash: hash.toString('base64url'),
      origin_jti: access.origin_jti,
      event_id: access.event_id,
      auth_time: access.auth_time,
      iat: time(),
      exp: time(),
      jti: expect.stringMatching(uuid),
    });
    expect(claimsOf(tokens.id_token).jti).not.toBe(access.jti);
  });

  test('has a nonce only if one was sent, and is only there for the scope openid', async () => {
    const { body: plain } = await signIn(pool, { changes: { nonce: undefined } });
    expect(claimsOf(plain.id_token)).not.toHaveProperty('nonce');
    const { body } = await signIn(pool, { changes: { scope: 'email', nonce: undefined } });
    expect(body).not.toHaveProperty('id_token');
    expect(claimsOf(body.access_token).scope).toBe('email');
  });
});

describe('a code', () => {
  async function newCode(): Promise<{ code: string; verifier: string }> {
    const { verifier, challenge } = pkce();
    const browser = new Browser();
    const page = await browser.open(authorizeUrl(pool, challenge));
    return { code: returned(await browser.submit(page, ada)).code!, verifier };
  }

  test('needs the verifier of its challenge', async () => {
    const { code } = await newCode();
    expect(await exchange(pool, code, pkce().verifier)).toMatchObject(invalidGrant);
    const form = { grant_type: 'authorization_code', redirect_uri: `${pool.baseUrl}/callback`, code };
    expect(await askTokens(pool, form)).toMatchObject(invalidGrant);
  });

  test('needs the address that it was sent to, and its client', async () => {
    const { code, verifier } = await newCode();
    const form = { grant_type: 'authorization_code', code, code_verifier: verifier };
    const elsewhere = { ...form, redirect_uri: `${pool.baseUrl}/elsewhere` };
    expect(await askTokens(pool, elsewhere)).toMatchObject(invalidGrant);
    const foreign = { ...form, redirect_uri: `${pool.baseUrl}/callback`, client_id: 'nobody' };
    expect(await askTokens(pool, foreign)).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
  });

  test('works once; a second use ends what the first one gave', async () => {
    const { code, verifier } = await newCode();
    const { body } = await exchange(pool, code, verifier);
    expect(await exchange(pool, code, verifier)).toMatchObject(invalidGrant);
    expect(await refresh(pool, body.refresh_token!)).toMatchObject(invalidGrant);
  });

  test('is exchanged for the pages of a registered application only', async () => {
    const { code, verifier } = await newCode();
    const send = async (origin: string) => {
      const form = { grant_type: 'authorization_code', redirect_uri: `${pool.baseUrl}/callback` };
      const body = new URLSearchParams({ ...form, client_id: clientId, code, code_verifier: verifier });
      const answer = await fetch(`${pool.baseUrl}/oauth2/token`, {
        method: 'POST',
        headers: { origin },
        body,
      });
      return [answer.status, answer.headers.get('access-control-allow-origin')];
    };
    for (const other of ['https://elsewhere.example', 'null']) expect(await send(other)).toEqual([400, null]);
    expect(await send(pool.baseUrl)).toEqual([200, pool.baseUrl]);
  });
});

test('an account is told to an access token of the pool with the scope openid only', async () => {
  const { access_token: narrow } = (await signIn(pool, { changes: { scope: 'email', nonce: undefined } }))
    .body;
  const { access_token: wide, id_token: id } = tokens;
  const sent = [`Bearer ${wide}`, `Bearer ${narrow}`, `Bearer ${id}`, 'Bearer made-up', 'Bearer ', wide, ''];
  const tell = (authorization = '') =>
    fetch(`${pool.baseUrl}/oauth2/userInfo`, { headers: { authorization } });
  const statuses = (await Promise.all(sent.map(tell))).map(({ status }) => status);
  expect([claimsOf(narrow).scope, ...statuses]).toEqual(['email', 200, 401, 401, 401, 401, 401, 401]);
});

test('a token request that is too large, no form, or for another grant is refused in JSON', async () => {
  const form = 'application/x-www-form-urlencoded';
  const bodies: [string, string, string][] = [
    [form, `code=${'x'.repeat(2_000_000)}`, 'invalid_request'],
    ['application/json', '{}', 'invalid_request'],
    [form, `client_id=${clientId}&grant_type=client_credentials`, 'unsupported_grant_type'],
  ];
  for (const [type, body, error] of bodies) {
    const headers = { 'content-type': type, accept: 'text/html' };
    const answer = await fetch(`${pool.baseUrl}/oauth2/token`, { method: 'POST', headers, body });
    expect([answer.status, await answer.json()]).toEqual([400, expect.objectContaining({ error })]);
  }
});

describe('a refresh token', () => {
  test('gives new tokens of the same sign-in', async () => {
    const { body: first } = await signIn(pool);
    const { status, body: second } = await refresh(pool, first.refresh_token!);
    expect(status).toBe(200);
    for (const kind of ['access_token', 'id_token'] as const) {
      const [before, after] = [claimsOf(first[kind]), claimsOf(second[kind])];
      for (const claim of ['sub', 'auth_time', 'origin_jti', 'scope', 'aud', 'client_id']) {
        expect(after[claim]).toBe(before[claim]);
      }
      expect(after.jti).not.toBe(before.jti);
    }
    await expect(verify(second.access_token!)).resolves.toMatchObject({ payload: { sub: ada.sub } });
  });

  test('works for two tabs that use it at once, and is unknown after ten seconds', async () => {
    const { body } = await signIn(pool);
    const answers = await Promise.all([1, 2].map(() => refresh(pool, body.refresh_token!)));
    await later(10_000, async () => {
      expect(await refresh(pool, body.refresh_token!)).toMatchObject(invalidGrant);
      // Its successors are not ended by the old one.
      for (const answer of answers) {
        expect(await refresh(pool, answer.body.refresh_token!)).toMatchObject({ status: 200 });
      }
    });
  });

  test('that is revoked gives no more tokens, nor does what came of it, and other sign-ins stay', async () => {
    const revoke = (token: string, client = clientId) => {
      const body = new URLSearchParams({ token, client_id: client });
      return fetch(`${pool.baseUrl}/oauth2/revoke`, {
        method: 'POST',
        headers: { origin: pool.baseUrl },
        body,
      });
    };
    const [first, other] = [await signIn(pool), await signIn(pool)];
    const { body: second } = await refresh(pool, first.body.refresh_token!);
    expect((await revoke(second.refresh_token!, 'nobody')).status).toBe(401);
    expect(await refresh(pool, second.refresh_token!)).toMatchObject({ status: 200 });

    const answer = await revoke(second.refresh_token!);
    expect([answer.status, await answer.text()]).toEqual([200, '']);
    expect(answer.headers.get('access-control-allow-origin')).toBe(pool.baseUrl);
    for (const token of [first.body.refresh_token!, second.refresh_token!]) {
      expect(await refresh(pool, token)).toMatchObject(invalidGrant);
    }
    expect(await refresh(pool, other.body.refresh_token!)).toMatchObject({ status: 200 });
    // Again, and for a token that never was, as in Cognito.
    for (const token of [second.refresh_token!, 'made-up']) expect((await revoke(token)).status).toBe(200);
  });

  test('of another pool, or made up, is refused', async () => {
    const other = await startPool();
    const { body } = await signIn(other);
    await other.close();
    for (const token of [body.refresh_token!, 'made-up', tokens.access_token!]) {
      expect(await refresh(pool, token)).toMatchObject(invalidGrant);
    }
  });
});
