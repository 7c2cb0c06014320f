import { createHmac, createPrivateKey, createPublicKey, randomUUID, sign } from 'node:crypto';
import { createServer } from 'node:http';
import { decodeJwt, decodeProtectedHeader, type JWK } from 'jose';
import { listen } from '../../local/http/server.ts';
import { newSigningKey, publicKey } from '../../local/cognito/signing-key.ts';
import { signAccessToken, signIdToken, type TokenSettings } from '../../local/cognito/tokens.ts';
import type { ReadyFile } from '../../local/service.ts';
import { dashboardClientId } from '../../local/sign-in.ts';
import {
  askTokens,
  authorizeUrl,
  Browser,
  pkce,
  returned,
  type ServedPool,
} from '../engine/local/cognito/support.ts';
import { tokenSettings } from './sessions.ts';

/** A running pool's own keys and claims in the hands of somebody who would get in. */
export interface Forger {
  /** Signed by the pool's key and good, but for what is changed; a change to undefined leaves a member out. */
  token(changes?: { header?: object; claims?: object; key?: JWK; hash?: string }): string;
  /** The three parts of a good token. */
  parts(): [string, string, string];
  settings: TokenSettings;
  /** A key that is not the pool's. */
  otherKey: JWK;
  /** Where that key is served as a JWKS. */
  otherKeysUrl: string;
  /** How often anybody asked for it. */
  otherKeysAsked(): number;
  close(): Promise<void>;
}

export async function openForger(dataDir: string, email: string): Promise<Forger> {
  const settings = tokenSettings(dataDir, email);
  const good = await signAccessToken(settings);
  const [goodHeader, goodClaims] = [decodeProtectedHeader(good), decodeJwt(good)];
  const otherKey = await newSigningKey();
  let asked = 0;
  const keys = [publicKey(otherKey), { ...publicKey(otherKey), kid: settings.signingKey.kid }];
  const server = createServer((_, res) => {
    asked += 1;
    res.end(JSON.stringify({ keys }));
  });
  const { url, close } = await listen(server);
  return {
    token({ header = {}, claims = {}, key = settings.signingKey, hash = 'sha256' } = {}) {
      const input = unsigned({ ...goodHeader, ...header }, { ...goodClaims, ...claims });
      const privateKey = createPrivateKey({ key, format: 'jwk' });
      return `${input}.${sign(hash, Buffer.from(input), privateKey).toString('base64url')}`;
    },
    parts: () => good.split('.') as [string, string, string],
    settings,
    otherKey,
    otherKeysUrl: `${url}/.well-known/jwks.json`,
    otherKeysAsked: () => asked,
    close,
  };
}

const base64url = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const unsigned = (header: unknown, claims: unknown): string => `${base64url(header)}.${base64url(claims)}`;
const nowSeconds = (): number => Math.floor(Date.now() / 1000);

/** The algorithm confusion of RFC 8725, section 2.1: what everybody may know is taken for a shared secret. */
function hs256({ parts, settings: { signingKey } }: Forger): string {
  const input = `${base64url({ kid: signingKey.kid, alg: 'HS256' })}.${parts()[1]}`;
  const key = createPublicKey({ key: publicKey(signingKey), format: 'jwk' });
  const secret = key.export({ type: 'spki', format: 'pem' });
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
}

function withAlgorithm(forger: Forger, alg: string, signature: string): string {
  return `${base64url({ kid: forger.settings.signingKey.kid, alg })}.${forger.parts()[1]}.${signature}`;
}

/** Signed by a key of one's own that the header offers along. */
function offered(forger: Forger, header: object): string {
  return forger.token({ header, key: forger.otherKey });
}

/** Every way of not being an access token of the pool and the client. Each differs from a good one in one thing. */
export const noSessions: Record<string, (forger: Forger) => string | Promise<string>> = {
  'an expired token': ({ token }) => token({ claims: { exp: nowSeconds() - 1 } }),
  'a token that expires right now': ({ token }) => token({ claims: { exp: nowSeconds() } }),
  'a token that never expires': ({ token }) => token({ claims: { exp: undefined } }),
  'a token whose expiry is a text': ({ token }) => token({ claims: { exp: `${nowSeconds() + 3600}` } }),
  'a token that is not good yet': ({ token }) => token({ claims: { nbf: nowSeconds() + 600 } }),

  'alg none without a signature': (forger) => withAlgorithm(forger, 'none', ''),
  'alg none in other letters': (forger) => withAlgorithm(forger, 'nOnE', forger.parts()[2]),
  'HS256 by the public key': hs256,
  'another algorithm than the key is for': ({ token }) => token({ header: { alg: 'RS512' }, hash: 'sha512' }),

  "another pool's key under this pool's kid": ({ token, otherKey }) => token({ key: otherKey }),
  "another pool's token": ({ token, otherKey: key }) =>
    token({ key, header: { kid: key.kid }, claims: { iss: 'https://pool.example.test/other' } }),
  'an issuer that begins alike': ({ token, settings }) => token({ claims: { iss: `${settings.issuer}2` } }),
  'no issuer': ({ token }) => token({ claims: { iss: undefined } }),
  'a key by its address and kid': (forger) =>
    offered(forger, { jku: forger.otherKeysUrl, x5u: forger.otherKeysUrl, kid: forger.otherKey.kid }),
  'a key and its kid in the header': (forger) =>
    offered(forger, { jwk: publicKey(forger.otherKey), kid: forger.otherKey.kid }),
  'an unknown kid': ({ token }) => token({ header: { kid: randomUUID() } }),
  'no kid': ({ token }) => token({ header: { kid: undefined } }),

  'an ID token': ({ settings }) => {
    const account = { sub: settings.account.sub, email: 'someone@example.test', password: '' };
    const event = { scope: 'openid', authTimeSeconds: nowSeconds(), originId: 'o', eventId: 'e' };
    return signIdToken({ ...settings, account }, event, { accessToken: 'x', nonce: undefined });
  },
  'an ID token with the claims of an access token': ({ token, settings }) =>
    token({ claims: { token_use: 'id', aud: settings.clientId } }),
  'a token without a use': ({ token }) => token({ claims: { token_use: undefined } }),
  "another client's token": ({ token }) => token({ claims: { client_id: 'another' } }),
  'a token for this client that names none as its own': ({ token, settings }) =>
    token({ claims: { client_id: undefined, aud: settings.clientId } }),
  'no sub': ({ token }) => token({ claims: { sub: undefined } }),
  'a sub that is empty': ({ token }) => token({ claims: { sub: '' } }),
  'a sub that is a key of the table': ({ token }) => token({ claims: { sub: 'x#y' } }),
  'a sub of 200 characters': ({ token }) => token({ claims: { sub: 'a'.repeat(200) } }),

  'a changed payload': (forger) => {
    const [header, , signature] = forger.parts();
    return `${header}.${forger.token({ claims: { sub: randomUUID() } }).split('.')[1]}.${signature}`;
  },
  'a cut signature': (forger) => forger.parts().join('.').slice(0, -4),
  'no signature': (forger) => forger.parts().slice(0, 2).join('.'),
  'no JSON': () => 'x.y.z',
  'a payload that is no object': () => `${base64url({ alg: 'RS256' })}.${base64url(null)}.x`,
  'a token of 9 KB': ({ token }) => token({ claims: { note: 'x'.repeat(6600) } }),
};

/** Signs in on the pages of a running service and returns to its dashboard, as a browser does. */
export async function signIn(
  { dashboardUrl, accounts }: ReadyFile,
  email: string,
): Promise<Record<'access_token' | 'id_token' | 'refresh_token', string>> {
  const pool = { baseUrl: new URL(dashboardUrl).origin } as ServedPool;
  const { verifier, challenge } = pkce();
  const browser = new Browser();
  const page = await browser.open(authorizeUrl(pool, challenge, { client_id: dashboardClientId }));
  const { password } = accounts[email]!;
  const { code } = returned(await browser.submit(page, { email, password }));
  const form = { client_id: dashboardClientId, redirect_uri: `${pool.baseUrl}/callback` };
  const grantType = { grant_type: 'authorization_code', code: code!, code_verifier: verifier };
  return (await askTokens(pool, { ...form, ...grantType })).body as Awaited<ReturnType<typeof signIn>>;
}
