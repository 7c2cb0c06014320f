import { customRandom } from 'nanoid';

export const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * What makes random texts of a length, 5.95 bits a character. Each takes bytes of its own, and none from a store that was filled
 * before: so a simulation does not depend on those before it.
 */
export function randomBase62(length: number): () => string {
  return customRandom(base62, length, (bytes) => crypto.getRandomValues(new Uint8Array(bytes)));
}
