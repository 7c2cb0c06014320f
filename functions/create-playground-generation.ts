import { endpoint } from '../shared/http/endpoint.ts';
import {
  answerGeneration,
  generationDeps,
  prefetchForGeneration,
} from '../shared/http/generation-request.ts';
import { usableLicense } from '../shared/http/owned-license.ts';
import { readJsonBody } from '../shared/http/request.ts';
import { routes } from '../shared/routes.ts';
import { licenseStore } from '../shared/store/license-store.ts';

/** POST /playground/generate: POST /generate to the letter, for a signed-in account that names its license. */
export const handler = endpoint(routes.createPlaygroundGeneration, {
  deps: (runtime) => ({ ...generationDeps(runtime), licenses: licenseStore(runtime.table()) }),
  load: ({ request, credential, deps }) => prefetchForGeneration(request, credential.callerId, deps.table),
  async run({ request, caller, deps, loaded, runtime }) {
    const { licenseId, ...body } = readJsonBody(request);
    const license = await usableLicense(deps.licenses, caller.ownerId, licenseId, runtime.clock.now());
    request.logFields.licenseId = license.licenseId;
    return answerGeneration(request, { ...caller, license, body }, loaded, deps.workflow);
  },
});
