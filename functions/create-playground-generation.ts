import { endpoint } from '../shared/http/endpoint.ts';
import {
  answerGeneration,
  generationDeps,
  readGenerationRequest,
} from '../shared/http/generation-request.ts';
import { usableLicense } from '../shared/http/owned-license.ts';
import { routes } from '../shared/routes.ts';
import { licenseStore } from '../shared/store/license-store.ts';

/** POST /playground/generate: POST /generate to the letter, for a signed-in account that names its access record. */
export const handler = endpoint(routes.createPlaygroundGeneration, {
  deps: (runtime) => ({ ...generationDeps(runtime), licenses: licenseStore(runtime.table()) }),
  load: ({ request, credential, deps }) => readGenerationRequest(request, credential.callerId, deps.table),
  async run({ request, caller, deps, loaded, runtime }) {
    const { licenseId, ...body } = loaded.body();
    const license = await usableLicense(deps.licenses, caller.ownerId, licenseId, runtime.clock.now());
    request.facts.licenseId = license.licenseId;
    const reads = { ...loaded, body: () => body };
    return answerGeneration(request, { callerId: caller.callerId, license }, reads, deps.workflow);
  },
});
