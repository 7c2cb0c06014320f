import type { IdentityList } from '../shared/contracts/identity.ts';
import { isActive, mayUse, type License } from '../shared/domain/license.ts';
import { ok } from '../shared/http/answer.ts';
import type { CallerOf } from '../shared/http/callers.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { ownedLicense } from '../shared/http/owned-license.ts';
import { readQuery, type ApiRequest } from '../shared/http/request.ts';
import { routes } from '../shared/routes.ts';
import { identityStore } from '../shared/store/identity-store.ts';
import { licenseStore, type LicenseStore } from '../shared/store/license-store.ts';

/** GET /identities: those that this caller may use. */
export const handler = endpoint(routes.listIdentities, {
  deps: ({ table }) => ({ identities: identityStore(table()), licenses: licenseStore(table()) }),
  load: ({ deps }) => deps.identities.list(),
  async run({ request, caller, deps, loaded, runtime }) {
    const licenses = await licensesOf(request, caller, deps.licenses, runtime.clock.now());
    const list: IdentityList = {
      identities: loaded
        .filter((identity) => licenses.some((license) => mayUse(license, identity)))
        .map(({ identityId, name, slug, description, productPhotos, model }) => ({
          id: identityId,
          name,
          slug,
          description,
          productPhotos,
          available: model !== null,
        })),
    };
    return ok(list);
  },
});

/** A key's record; by session the one that is named, and without a name all that are active. */
async function licensesOf(
  request: ApiRequest,
  caller: CallerOf<typeof routes.listIdentities>,
  licenses: LicenseStore,
  nowMs: number,
): Promise<License[]> {
  const query = readQuery(request, caller.kind === 'session' ? ['licenseId'] : []);
  if (caller.kind === 'key') return [caller.license];
  if ('licenseId' in query) return [await ownedLicense(licenses, caller.ownerId, query.licenseId)];
  const owned = await licenses.listByOwner(caller.ownerId);
  return owned.filter((license) => isActive(license, nowMs));
}
