import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { JwtVerifier } from 'aws-jwt-verify';
import { decodeProtectedHeader } from 'jose';
import { signAccessToken } from '../../../local/cognito/tokens.ts';
import { ada, ben, claimsOf, clientId, refresh, signIn, startPool } from './support.ts';
import type { ServedPool, TokenAnswer } from './support.ts';

let pool: ServedPool;
let other: ServedPool;
let tokens: TokenAnswer['body'];
const startedSeconds = Math.floor(Date.now() / 1000);

beforeAll(async () => {
  [pool, other] = await Promise.all([startPool({ refreshGraceSeconds: 0 }), startPool()]);
  ({ body: tokens } = await signIn(pool));
});
afterAll(() => Promise.all([pool.close(), other.close()]));

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const time = (): unknown => expect.any(Number);
const json = async (url: string): Promise<any> => (await fetch(url)).json();

/** What `CognitoJwtVerifier` checks of an access token, for an issuer that is not AWS. */
async function verify(token: string, { issuer }: ServedPool = pool): Promise<unknown> {
  const verifier = JwtVerifier.create({
    issuer,
    audience: null,
    customJwtCheck({ payload }) {
      if (payload.token_use !== 'access') throw new Error(`token_use is ${payload.token_use}`);
      if (payload.client_id !== clientId) throw new Error(`client_id is ${payload.client_id}`);
    },
  });
  verifier.cacheJwks(await json(`${issuer}/.well-known/jwks.json`));
  return verifier.verify(token);
}

const userInfo = (token: string): Promise<Response> =>
  fetch(`${pool.baseUrl}/oauth2/userInfo`, { headers: { authorization: `Bearer ${token}` } });

describe('the published documents', () => {
  test('name the issuer with its pool, and the endpoints at the root', async () => {
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
      response_types_supported: ['code'],
      scopes_supported: ['openid', 'email', 'profile'],
      id_token_signing_alg_values_supported: ['RS256'],
    });
  });

  test('hold the public half of the signing key and no more', async () => {
    const { kty, n, e, kid } = pool.options.signingKey;
    const { keys } = await json(`${pool.issuer}/.well-known/jwks.json`);
    expect(keys).toEqual([{ kty, n, e, kid, alg: 'RS256', use: 'sig' }]);
  });

  test('may be read by any page and kept for a while', async () => {
    for (const name of ['openid-configuration', 'jwks.json']) {
      const { headers } = await fetch(`${pool.issuer}/.well-known/${name}`);
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('cache-control')).toBe('public, max-age=3600');
    }
  });
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
    expect(decodeProtectedHeader(tokens.access_token!)).toEqual({
      kid: pool.options.signingKey.kid,
      alg: 'RS256',
    });
  });

  test('holds the scopes that were asked for', async () => {
    const { body } = await signIn(pool, { changes: { scope: 'openid email' } });
    expect(claimsOf(body.access_token).scope).toBe('openid email');
  });

  test('is accepted by aws-jwt-verify', async () => {
    await expect(verify(tokens.access_token!)).resolves.toMatchObject({ sub: ada.sub });
  });

  test('is accepted when it was signed without a sign-in, and has the same claims', async () => {
    const token = await signAccessToken({
      ...pool.options,
      issuer: pool.issuer,
      account: ben,
      lifetimeSeconds: 60,
    });
    await expect(verify(token)).resolves.toMatchObject({ sub: ben.sub, username: ben.sub });
    expect(Object.keys(claimsOf(token)).sort()).toEqual(Object.keys(claimsOf(tokens.access_token)).sort());
  });

  test('outlives a restart with the same key', async () => {
    const restarted = await startPool({ signingKey: pool.options.signingKey });
    try {
      const { keys } = await json(`${restarted.issuer}/.well-known/jwks.json`);
      const verifier = JwtVerifier.create({ issuer: pool.issuer, audience: null });
      verifier.cacheJwks({ keys });
      await expect(verifier.verify(tokens.access_token!)).resolves.toMatchObject({ sub: ada.sub });
    } finally {
      await restarted.close();
    }
  });

  test('is refused when an ID token stands in its place', async () => {
    await expect(verify(tokens.id_token!)).rejects.toThrow('token_use is id');
  });

  test('is refused when another pool, another key, another client or the past signed it', async () => {
    const account = ada;
    const { signingKey } = pool.options;
    const settings = { issuer: pool.issuer, clientId, signingKey, account, lifetimeSeconds: 60 };
    const foreignKey = { ...other.options.signingKey, kid: signingKey.kid! };
    await expect(verify(tokens.access_token!, other)).rejects.toThrow();
    const refused = [
      { ...settings, issuer: other.issuer },
      { ...settings, signingKey: other.options.signingKey },
      { ...settings, signingKey: foreignKey },
      { ...settings, clientId: 'other' },
      { ...settings, lifetimeSeconds: -1 },
    ];
    for (const changed of refused) {
      const token = await signAccessToken(changed);
      await expect(verify(token)).rejects.toThrow();
      expect((await userInfo(token)).status).toBe(401);
    }
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

  test('has no nonce when none was sent', async () => {
    const { body } = await signIn(pool, { changes: { nonce: undefined } });
    expect(claimsOf(body.id_token)).not.toHaveProperty('nonce');
  });

  test('is only there for the scope openid', async () => {
    const { body } = await signIn(pool, { changes: { scope: 'email', nonce: undefined } });
    expect(body).not.toHaveProperty('id_token');
    expect((await userInfo(body.access_token!)).status).toBe(401);
  });
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
    await expect(verify(second.access_token!)).resolves.toMatchObject({ sub: ada.sub });
  });

  test('works once: its successor takes its place and is not ended by the old one', async () => {
    const { body: first } = await signIn(pool);
    const { body: second } = await refresh(pool, first.refresh_token!);
    expect(await refresh(pool, first.refresh_token!)).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    });
    expect(await refresh(pool, second.refresh_token!)).toMatchObject({ status: 200 });
  });

  test('works for two tabs that use it at the same time', async () => {
    const { body } = await signIn(other);
    const answers = await Promise.all([
      refresh(other, body.refresh_token!),
      refresh(other, body.refresh_token!),
    ]);
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      expect(await refresh(other, answer.body.refresh_token!)).toMatchObject({ status: 200 });
    }
  });

  test('is refused once it was revoked', async () => {
    const { body } = await signIn(pool);
    const form = { client_id: clientId, token: body.refresh_token! };
    const revoked = await fetch(`${pool.baseUrl}/oauth2/revoke`, {
      method: 'POST',
      body: new URLSearchParams(form),
    });
    expect(revoked.status).toBe(200);
    expect(await refresh(pool, body.refresh_token!)).toMatchObject({ body: { error: 'invalid_grant' } });
  });

  test('of another pool, or made up, is refused', async () => {
    const { body } = await signIn(other);
    for (const token of [body.refresh_token!, 'made-up', tokens.access_token!]) {
      expect(await refresh(pool, token)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    }
  });
});

describe('user info', () => {
  test('tells who an access token belongs to', async () => {
    const answer = await userInfo(tokens.access_token!);
    expect(await answer.json()).toEqual({
      sub: ada.sub,
      email: ada.email,
      email_verified: 'true',
      username: ada.sub,
    });
  });

  test('is refused to anything but an access token', async () => {
    for (const token of [tokens.id_token!, tokens.refresh_token!, 'x', '']) {
      const answer = await userInfo(token);
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toContain('invalid_token');
    }
  });
});
