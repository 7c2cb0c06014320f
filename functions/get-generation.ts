import { objectStore } from '../shared/adapters/object-store.ts';
import { isRequestId } from '../shared/domain/ids.ts';
import { ServiceError } from '../shared/errors.ts';
import { ok } from '../shared/http/answer.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { readQuery } from '../shared/http/request.ts';
import { routes } from '../shared/routes.ts';
import { generationStore } from '../shared/store/generation-store.ts';
import { storedGeneration } from '../shared/workflow/answers.ts';

/** GET /generate/{requestId}. Another license's request is looked for in the caller's own, and so is not there. */
export const handler = endpoint(routes.getGeneration, {
  deps: ({ table, env }) => ({ generations: generationStore(table()), objects: objectStore(env.bucketName) }),
  load: async ({ request, key, deps }) => {
    const { requestId = '' } = request.pathParameters;
    return isRequestId(requestId) ? deps.generations.get(key.licenseId, requestId) : null;
  },
  async run({ request, deps, loaded, runtime }) {
    readQuery(request, []);
    if (loaded === null || loaded.expiresAtMs <= runtime.clock.now()) {
      throw new ServiceError('REQUEST_NOT_FOUND', 'No stored request has this ID.');
    }
    return ok(await storedGeneration(loaded, deps.objects));
  },
});
