import type { JWK } from 'jose';
import { publicKey } from './signing-key.ts';

/** The scopes that an app client of the pool may ask for. */
export const knownScopes = ['openid', 'email', 'profile'];

/** A user pool's discovery document: the issuer carries the pool's id, managed login is at the root of its domain. */
export function discoveryDocument(baseUrl: string, issuer: string): object {
  return {
    issuer,
    authorization_endpoint: `${baseUrl}/oauth2/authorize`,
    token_endpoint: `${baseUrl}/oauth2/token`,
    userinfo_endpoint: `${baseUrl}/oauth2/userInfo`,
    revocation_endpoint: `${baseUrl}/oauth2/revoke`,
    end_session_endpoint: `${baseUrl}/logout`,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    response_types_supported: ['code'],
    scopes_supported: knownScopes,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    token_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
  };
}

/** The keys that verify the pool's tokens. */
export function keysDocument(signingKey: JWK): object {
  return { keys: [publicKey(signingKey)] };
}
