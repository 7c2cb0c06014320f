import { isId } from '../domain/ids.ts';
import type { License } from '../domain/license.ts';
import { ServiceError } from '../errors.ts';
import type { LicenseStore } from '../store/license-store.ts';

/**
 * An account's own access record. Another account's is not there, in the same words.
 * @throws INVALID_PARAMETERS without a licenseId, LICENSE_NOT_FOUND
 */
export async function ownedLicense(
  licenses: LicenseStore,
  ownerId: string,
  licenseId: unknown,
): Promise<License> {
  if (typeof licenseId !== 'string' || licenseId === '') {
    throw new ServiceError('INVALID_PARAMETERS', 'licenseId must be the id of one of your licenses.');
  }
  const license = isId(licenseId) ? await licenses.get(licenseId) : null;
  if (license === null || license.ownerId !== ownerId) {
    throw new ServiceError('LICENSE_NOT_FOUND', 'None of your licenses has this ID.');
  }
  return license;
}
