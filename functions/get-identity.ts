import { isId } from '../shared/base/ids.ts';
import { ok } from '../shared/http/answer.ts';
import { callersLicenses } from '../shared/http/callers-licenses.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { imageStore } from '../shared/http/image-store.ts';
import { usableIdentity } from '../shared/identities/identity.ts';
import { identityByName, identityCatalog, identityStore } from '../shared/identities/store.ts';
import { identityDetail } from '../shared/identities/usable.ts';
import { licenseStore } from '../shared/licenses/store.ts';
import * as routes from '../shared/routes/table.ts';

/** GET /identities/{identityId}: one that this caller may use, by its id or a slug, with its versions. */
export const handler = endpoint(routes.getIdentity, {
  deps: (runtime) => ({
    catalog: identityCatalog(identityStore(runtime.table()), runtime.clock),
    identities: identityStore(runtime.table()),
    licenses: licenseStore(runtime.table()),
    objects: imageStore(runtime),
  }),
  async run({ request, caller, deps: { catalog, identities, licenses, objects }, runtime }) {
    const { identityId: name = '' } = request.pathParameters;
    const covering = await callersLicenses(request, caller, licenses, runtime.clock.now());
    const found = isId(name) ? await identityByName(catalog, name) : null;
    const identity = usableIdentity(found, covering);
    const versions = await identities.versions(identity.identityId);
    return ok(await identityDetail(identity, versions, objects, runtime.clock.now()));
  },
});
