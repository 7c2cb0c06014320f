import { createHash } from 'node:crypto';

/**
 * Whose requests a model container shares its time between: a digest of the license, 132 bits in base64url, so that a
 * container and its logs learn no license's id.
 */
export function tenantOf(licenseId: string): string {
  return createHash('sha256')
    .update(`tenant of the model server: ${licenseId}`)
    .digest('base64url')
    .slice(0, 22);
}
