import { isActive, type License } from '../shared/licenses/license.ts';
import { ok } from '../shared/http/answer.ts';
import type { CallerOf } from '../shared/http/callers.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { imageStore } from '../shared/http/image-store.ts';
import { ownedLicense, readLicenseId } from '../shared/http/owned-license.ts';
import { readQuery, sentQuery, collectErrors, type ApiRequest } from '../shared/http/request.ts';
import * as routes from '../shared/routes/table.ts';
import { identityCatalog, identityStore } from '../shared/identities/store.ts';
import { licenseStore, type LicenseStore } from '../shared/licenses/store.ts';
import { identityAnswers, usableIdentities } from '../shared/identities/usable.ts';

/** GET /identities: those that this caller may use. */
export const handler = endpoint(routes.listIdentities, {
  deps: (runtime) => ({
    identities: identityCatalog(identityStore(runtime.table()), runtime.clock),
    licenses: licenseStore(runtime.table()),
    objects: imageStore(runtime),
  }),
  async run({ request, caller, deps, runtime }) {
    const licenses = await licensesOf(request, caller, deps.licenses, runtime.clock.now());
    const usable = await usableIdentities(licenses, deps.identities);
    return ok(await identityAnswers(usable, deps.objects));
  },
});

/** A key's record; by session the one that is named, and without a name all that are active. */
async function licensesOf(
  request: ApiRequest,
  caller: CallerOf<typeof routes.listIdentities>,
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
