import type { License } from '../../shared/licenses/license.ts';
import { Failure } from '../common/failure.ts';
import type { Session } from './command.ts';

/** @throws Failure when there is none. */
export async function getLicense({ stores }: Session, licenseId: string): Promise<License> {
  const license = await stores.licenses.get(licenseId);
  if (license === null) throw unknownLicense(licenseId);
  return license;
}

export function unknownLicense(licenseId: string): Failure {
  return new Failure(`There is no license ${licenseId}.`);
}
