import { isId } from '../domain/ids.ts';
import { whyInactive, type License } from '../domain/license.ts';
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

/**
 * The same, for what only an active record may do.
 * @throws INVALID_PARAMETERS, LICENSE_NOT_FOUND, LICENSE_INACTIVE
 */
export async function usableLicense(
  licenses: LicenseStore,
  ownerId: string,
  licenseId: unknown,
  nowMs: number,
): Promise<License> {
  const license = await ownedLicense(licenses, ownerId, licenseId);
  const inactive = whyInactive(license, nowMs);
  if (inactive === null) return license;
  throw new ServiceError('LICENSE_INACTIVE', `The license ${license.licenseId} can't generate: ${inactive}.`);
}
