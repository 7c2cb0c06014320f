import { ok } from '../shared/http/answer.ts';
import { callersLicenses } from '../shared/http/callers-licenses.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { imageStore } from '../shared/http/image-store.ts';
import * as routes from '../shared/routes/table.ts';
import { identityCatalog, identityStore } from '../shared/identities/store.ts';
import { licenseStore } from '../shared/licenses/store.ts';
import { identityAnswers, usableIdentities } from '../shared/identities/usable.ts';

/** GET /identities: those that this caller may use. */
export const handler = endpoint(routes.listIdentities, {
  deps: (runtime) => ({
    identities: identityCatalog(identityStore(runtime.table()), runtime.clock),
    licenses: licenseStore(runtime.table()),
    objects: imageStore(runtime),
  }),
  async run({ request, caller, deps, runtime }) {
    const licenses = await callersLicenses(request, caller, deps.licenses, runtime.clock.now());
    const usable = await usableIdentities(licenses, deps.identities);
    return ok(await identityAnswers(usable, deps.objects));
  },
});
