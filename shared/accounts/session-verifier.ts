import { JwtVerifier } from 'aws-jwt-verify';
import { SimpleJwksCache, type Jwks } from 'aws-jwt-verify/jwk';
import * as z from 'zod/mini';
import type { SessionEnvironment } from '../base/config.ts';
import { isId } from '../base/ids.ts';
import { ServiceError } from '../base/errors.ts';
import { freshFetch } from '../base/fresh-fetch.ts';

/** A signed-in account. */
export interface Account {
  /** Cognito's `sub`. */
  ownerId: string;
  /** When its token was issued, milliseconds since 1970; Cognito says it to the second. */
  issuedAtMs: number;
}

export type SessionVerifier = ReturnType<typeof sessionVerifier>;

/** Longer tokens are refused. Cognito's are much shorter. */
const maxTokenCharacters = 8192;
const fetchWithinMs = 3000;

/** RFC 7517, as far as it is needed. A set that is not whole is the pool's fault, and never replaces a good one. */
const jwks = z.object({
  keys: z
    .array(z.looseObject({ kty: z.literal('RSA'), kid: z.string(), n: z.string(), e: z.string() }))
    .check(z.minLength(1)),
});

/**
 * Verifies access tokens of one user pool's client: signature against the pool's keys, which are fetched once and
 * again when a new one turns up, issuer, `token_use`, `client_id`, expiry (Amazon Cognito, "Verifying JSON web tokens").
 */
export function sessionVerifier({ issuer, jwksUrl, clientId }: SessionEnvironment) {
  const jwksCache = new SimpleJwksCache({ fetcher: { fetch: fetchKeys }, jwksParser: parseKeys });
  const verifier = JwtVerifier.create({ issuer, audience: null, jwksUri: jwksUrl }, { jwksCache });

  return {
    /**
     * @returns null for anything but a valid access token.
     * @throws SERVICE_UNAVAILABLE when the pool's keys can't be fetched.
     */
    async verify(token: string): Promise<Account | null> {
      if (token.length > maxTokenCharacters) return null;
      try {
        const claims = await verifier.verify(token);
        const { sub, exp, iat, token_use: tokenUse, client_id: client } = claims;
        // The library accepts a token without either.
        if (typeof exp !== 'number' || typeof iat !== 'number') return null;
        const valid = tokenUse === 'access' && client === clientId && typeof sub === 'string' && isId(sub);
        return valid ? { ownerId: sub, issuedAtMs: iat * 1000 } : null;
      } catch (error) {
        if (error instanceof ServiceError) throw error;
        return null;
      }
    },
  };
}

async function fetchKeys(url: string): Promise<ArrayBuffer> {
  try {
    const response = await freshFetch(url, { signal: AbortSignal.timeout(fetchWithinMs) });
    if (!response.ok) throw new Error(`the keys were answered with status ${response.status}`);
    return await response.arrayBuffer();
  } catch (cause) {
    throw unavailable(cause);
  }
}

function parseKeys(bytes: ArrayBuffer): Jwks {
  try {
    return jwks.parse(JSON.parse(Buffer.from(bytes).toString())) as Jwks;
  } catch (cause) {
    throw unavailable(cause);
  }
}

function unavailable(cause: unknown): ServiceError {
  return new ServiceError(
    'SERVICE_UNAVAILABLE',
    "Sessions can't be checked at the moment. Try again shortly.",
    {
      cause,
    },
  );
}
