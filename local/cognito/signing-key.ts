import { generateKeyPair, randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import type { JWK } from 'jose';

/** A new private key for a pool's tokens: RSA with 2048 bits, for RS256, as a JWK with a `kid`. */
export async function newSigningKey(): Promise<JWK> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  const jwk = privateKey.export({ format: 'jwk' }) as JWK;
  return { ...jwk, kid: randomUUID(), alg: 'RS256', use: 'sig' };
}

/** The public half of a signing key. */
export function publicKey({ kty, n, e, kid }: JWK): JWK {
  return { kty, n, e, kid, alg: 'RS256', use: 'sig' } as JWK;
}
