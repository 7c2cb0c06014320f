import { createHash, randomUUID } from 'node:crypto';
import { importJWK, SignJWT, type JWK, type JWTPayload } from 'jose';
import type { Account } from './options.ts';

export interface TokenSettings {
  issuer: string;
  clientId: string;
  /** Private RS256 JWK with a `kid`. */
  signingKey: JWK;
  account: Pick<Account, 'sub'>;
  lifetimeSeconds: number;
}

/** The claims that the tokens of one answer share, also with those that are refreshed from it. */
export interface SignInEvent {
  /** Separated by spaces. */
  scope: string;
  /** When the password was entered, in seconds since 1970. */
  authTimeSeconds: number;
  /** The same for all tokens that descend from one sign-in. */
  originId: string;
  /** The same for the tokens of one answer. */
  eventId: string;
}

/**
 * Signs an access token with the claims of Amazon Cognito's; it names its client in `client_id` and has no `aud`.
 * See "Understanding the access token" in the Cognito developer guide.
 */
export async function signAccessToken(
  settings: TokenSettings,
  { scope, authTimeSeconds, originId, eventId }: SignInEvent = newSignIn(),
): Promise<string> {
  const { clientId, account } = settings;
  return sign(settings, {
    client_id: clientId,
    origin_jti: originId,
    event_id: eventId,
    token_use: 'access',
    scope,
    auth_time: authTimeSeconds,
    username: account.sub,
    version: 2,
  });
}

/** Signs the ID token that goes with an access token. See "Understanding the identity (ID) token" there. */
export async function signIdToken(
  settings: TokenSettings & { account: Account },
  { authTimeSeconds, originId, eventId }: SignInEvent,
  { accessToken, nonce }: { accessToken: string; nonce: string | undefined },
): Promise<string> {
  const { clientId, account } = settings;
  return sign(settings, {
    aud: clientId,
    origin_jti: originId,
    event_id: eventId,
    token_use: 'id',
    auth_time: authTimeSeconds,
    at_hash: createHash('sha256').update(accessToken).digest().subarray(0, 16).toString('base64url'),
    ...(nonce !== undefined && { nonce }),
    'cognito:username': account.sub,
    email: account.email,
    email_verified: true,
  });
}

function newSignIn(): SignInEvent {
  return {
    scope: 'openid email profile',
    authTimeSeconds: Math.floor(Date.now() / 1000),
    originId: randomUUID(),
    eventId: randomUUID(),
  };
}

async function sign(
  { issuer, signingKey, account, lifetimeSeconds }: TokenSettings,
  claims: JWTPayload,
): Promise<string> {
  const nowSeconds = Math.floor(Date.now() / 1000);
  return new SignJWT(claims)
    .setProtectedHeader({ kid: signingKey.kid!, alg: 'RS256' })
    .setIssuer(issuer)
    .setSubject(account.sub)
    .setJti(randomUUID())
    .setIssuedAt(nowSeconds)
    .setExpirationTime(nowSeconds + lifetimeSeconds)
    .sign(await importJWK(signingKey, 'RS256'));
}
