import { isActive, type License } from '../licenses/license.ts';
import type { LicenseStore } from '../licenses/store.ts';
import type { listIdentities } from '../routes/table.ts';
import type { CallerOf } from './callers.ts';
import { ownedLicense, readLicenseId } from './owned-license.ts';
import { collectErrors, readQuery, sentQuery, type ApiRequest } from './request.ts';

/** A key's record; by session the one that is named, and without a name all that are active. */
export async function callersLicenses(
  request: ApiRequest,
  caller: CallerOf<typeof listIdentities>,
  licenses: LicenseStore,
  nowMs: number,
): Promise<License[]> {
  const bySession = caller.kind === 'session';
  const sent = sentQuery(request);
  collectErrors(
    () => bySession && 'licenseId' in sent && readLicenseId(sent.licenseId),
    () => readQuery(request, bySession ? ['licenseId'] : []),
  );
  if (!bySession) return [caller.license];
  if ('licenseId' in sent) return [await ownedLicense(licenses, caller.ownerId, sent.licenseId)];
  const owned = await licenses.listByOwner(caller.ownerId);
  return owned.filter((license) => isActive(license, nowMs));
}
