import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { signAccessToken } from '../../../../local/cognito/tokens.ts';
import { poolId, userPoolsApiOf } from '../../../../local/cognito/user-pool.ts';
import { accountDirectory } from '../../../../shared/accounts/directory.ts';
import { setCredentials } from '../s3/support.ts';
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
  usePool,
  type TokenAnswer,
} from './support.ts';

const pool = usePool({ otherRedirectUris: ['myapp://back'] });
let tokens: TokenAnswer['body'];
beforeAll(async () => void ({ body: tokens } = await signIn(pool)));

const uuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
const time = expect.any(Number);
const invalidGrant = { status: 400, body: { error: 'invalid_grant' } };

test('the published documents name the endpoints and the public key, for any page to read', async () => {
  const { baseUrl, issuer } = pool;
  const read = async (name: string) => (await fetch(`${issuer}/.well-known/${name}`)).json();
  expect(issuer).toBe(`${baseUrl}/us-east-1_local`);
  expect(await read('openid-configuration')).toMatchObject({
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
  // Not one member of its private half.
  expect(await read('jwks.json')).toEqual({ keys: [{ kty, n, e, kid, alg: 'RS256', use: 'sig' }] });
  const { headers } = await fetch(`${issuer}/.well-known/jwks.json`);
  expect(headers.get('access-control-allow-origin')).toBe('*');
});

describe('an access token', () => {
  test('has the claims of a Cognito access token and no others', () => {
    const claims = claimsOf(tokens.access_token);
    expect(claims).toEqual({
      sub: ada.sub,
      iss: pool.issuer,
      client_id: clientId,
      origin_jti: uuid,
      event_id: uuid,
      token_use: 'access',
      scope: 'openid email profile',
      auth_time: time,
      iat: time,
      exp: Number(claims.iat) + 3600,
      jti: uuid,
      username: ada.sub,
      version: 2,
    });
    const { kid } = pool.options.signingKey;
    expect(decodeProtectedHeader(tokens.access_token!)).toEqual({ kid, alg: 'RS256' });
  });

  // Who else's tokens the service refuses: test/support/forged-sessions.ts.
  test('is signed with the published key, also one that was made without a sign-in', async () => {
    const keys = createRemoteJWKSet(new URL(`${pool.issuer}/.well-known/jwks.json`));
    const settings = { ...pool.options, issuer: pool.issuer, account: ben, lifetimeSeconds: 60 };
    const made = await signAccessToken(settings);
    for (const [token, { sub }] of [
      [tokens.access_token!, ada],
      [made, ben],
    ] as const) {
      const { payload } = await jwtVerify(token, keys, { issuer: pool.issuer });
      expect(payload).toMatchObject({ sub, username: sub });
    }
    expect(Object.keys(claimsOf(made)).sort()).toEqual(Object.keys(claimsOf(tokens.access_token)).sort());
  });

  test('of the pool and with the scope openid is what an account is shown to', async () => {
    const { body } = await signIn(pool, { changes: { scope: 'email', nonce: undefined } });
    const ask = (authorization: string) =>
      fetch(`${pool.baseUrl}/oauth2/userInfo`, { headers: { authorization } });
    expect(await (await ask(`Bearer ${tokens.access_token}`)).json()).toEqual({
      sub: ada.sub,
      email: ada.email,
      email_verified: 'true',
      username: ada.sub,
    });
    for (const sent of [`Bearer ${body.access_token}`, `Bearer ${tokens.id_token}`, 'Bearer made-up', '']) {
      expect((await ask(sent)).status).toBe(401);
    }
    expect(body).not.toHaveProperty('id_token');
  });
});

describe('an ID token', () => {
  test('has the claims of a Cognito ID token, and belongs to its access token', () => {
    const { origin_jti, event_id, auth_time } = claimsOf(tokens.access_token);
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
      origin_jti,
      event_id,
      auth_time,
      iat: time,
      exp: time,
      jti: uuid,
    });
  });

  test('has a nonce only if one was sent', async () => {
    const { body } = await signIn(pool, { changes: { nonce: undefined } });
    expect(claimsOf(body.id_token)).not.toHaveProperty('nonce');
  });
});

describe('a code', () => {
  async function newCode(): Promise<{ code: string; verifier: string }> {
    const { verifier, challenge } = pkce();
    const browser = new Browser();
    const page = await browser.open(authorizeUrl(pool, challenge));
    return { code: returned(await browser.submit(page, ada)).code!, verifier };
  }

  test.each([
    ['the verifier of its challenge', { code_verifier: pkce().verifier }, invalidGrant],
    ['the address that it was sent to', { redirect_uri: 'myapp://back' }, invalidGrant],
    ['its client', { client_id: 'nobody' }, { status: 401, body: { error: 'invalid_client' } }],
  ])('needs %s', async (_what, changes, answer) => {
    const { code, verifier } = await newCode();
    const form = { grant_type: 'authorization_code', redirect_uri: `${pool.baseUrl}/callback`, code };
    expect(await askTokens(pool, { ...form, code_verifier: verifier, ...changes })).toMatchObject(answer);
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
      const { status, headers } = await exchange(pool, code, verifier, { origin });
      return [status, headers.get('access-control-allow-origin')];
    };
    for (const other of ['https://elsewhere.example', 'null']) expect(await send(other)).toEqual([400, null]);
    expect(await send(pool.baseUrl)).toEqual([200, pool.baseUrl]);
  });

  test('is refused in JSON, whatever its sender accepts', async () => {
    const answer = await exchange(pool, 'made-up', 'made-up', { accept: 'text/html' });
    expect(answer).toMatchObject(invalidGrant);
  });
});

describe('a refresh token', () => {
  test('gives new tokens of the same sign-in', async () => {
    const { body } = await refresh(pool, tokens.refresh_token!);
    for (const kind of ['access_token', 'id_token'] as const) {
      const {
        iat: _iat,
        exp: _exp,
        jti,
        event_id: _event,
        at_hash: _hash,
        ...before
      } = claimsOf(tokens[kind]);
      const { nonce: _nonce, ...same } = before;
      expect(claimsOf(body[kind])).toMatchObject(same);
      expect(claimsOf(body[kind]).jti).not.toBe(jti);
    }
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
    const revoke = async (token: string, client = clientId) => {
      const body = new URLSearchParams({ token, client_id: client });
      const headers = { origin: pool.baseUrl };
      const answer = await fetch(`${pool.baseUrl}/oauth2/revoke`, { method: 'POST', headers, body });
      return [answer.status, answer.headers.get('access-control-allow-origin')];
    };
    const [first, other] = [await signIn(pool), await signIn(pool)];
    const { body: second } = await refresh(pool, first.body.refresh_token!);
    expect((await revoke(second.refresh_token!, 'nobody'))[0]).toBe(401);
    expect(await refresh(pool, second.refresh_token!)).toMatchObject({ status: 200 });
    // Again, too, and for a token that never was, as in Cognito.
    for (const token of [second.refresh_token!, second.refresh_token!, 'made-up']) {
      expect(await revoke(token)).toEqual([200, pool.baseUrl]);
    }
    for (const { refresh_token: token } of [first.body, second]) {
      expect(await refresh(pool, token!)).toMatchObject(invalidGrant);
    }
    expect(await refresh(pool, other.body.refresh_token!)).toMatchObject({ status: 200 });
  });

  test('gives no more tokens once its account is signed out everywhere, and Cognito says who is not there', async () => {
    setCredentials();
    const directory = accountDirectory(poolId, userPoolsApiOf(pool.baseUrl));
    const { body } = await signIn(pool);
    expect(await refresh(pool, body.refresh_token!)).toMatchObject({ status: 200 });
    expect(await directory.signOut(claimsOf(body.access_token!).sub as string, false)).toBeGreaterThan(0);
    expect(await refresh(pool, body.refresh_token!)).toMatchObject(invalidGrant);
    expect(await directory.signOut('nobody', true)).toBeNull();
  });
});
