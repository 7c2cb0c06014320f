import { isId } from '../base/ids.ts';
import { whyInactive, type License } from '../licenses/license.ts';
import { ServiceError } from '../base/errors.ts';
import type { LicenseStore } from '../licenses/store.ts';

/** @throws INVALID_PARAMETERS for anything that names no license. */
export function readLicenseId(sent: unknown): string {
  if (typeof sent === 'string' && sent !== '') return sent;
  throw new ServiceError('INVALID_PARAMETERS', 'licenseId must be the id of one of your licenses.');
}

/**
 * Reads a license of the account. Another account's license is refused in the same words as one that does not exist.
 * @throws INVALID_PARAMETERS without a licenseId, LICENSE_NOT_FOUND
 */
export async function ownedLicense(licenses: LicenseStore, ownerId: string, sent: unknown): Promise<License> {
  const licenseId = readLicenseId(sent);
  const license = isId(licenseId) ? await licenses.get(licenseId) : null;
  if (license === null || license.ownerId !== ownerId) {
    throw new ServiceError('LICENSE_NOT_FOUND', 'None of your licenses has this ID.');
  }
  return license;
}

/**
 * The same, and the license must be active.
 * @throws INVALID_PARAMETERS, LICENSE_NOT_FOUND, LICENSE_INACTIVE
 */
export async function usableLicense(
  licenses: LicenseStore,
  ownerId: string,
  licenseId: unknown,
  nowMs: number,
): Promise<License> {
  const license = await ownedLicense(licenses, ownerId, licenseId);
  refuseInactive(license, nowMs);
  return license;
}

/** @throws LICENSE_INACTIVE */
export function refuseInactive(license: License, nowMs: number): void {
  const inactive = whyInactive(license, nowMs);
  if (inactive === null) return;
  throw new ServiceError('LICENSE_INACTIVE', `The license ${license.licenseId} can't generate: ${inactive}.`);
}
