import { objectStore } from '../shared/adapters/object-store.ts';
import { isRequestId } from '../shared/domain/ids.ts';
import { ServiceError } from '../shared/errors.ts';
import { ok } from '../shared/http/answer.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { readQuery } from '../shared/http/request.ts';
import { routes } from '../shared/routes.ts';
import { generationStore } from '../shared/store/generation-store.ts';
import { licenseStore } from '../shared/store/license-store.ts';
import { storedGeneration } from '../shared/workflow/answers.ts';

/** GET /generate/{requestId}. Looks among the caller's own requests only, so another caller's is not found. */
export const handler = endpoint(routes.getGeneration, {
  deps: ({ table, env }) => ({
    generations: generationStore(table()),
    licenses: licenseStore(table()),
    objects: objectStore(env.bucketName),
  }),
  async load({ request, credential, deps }) {
    const { requestId = '' } = request.pathParameters;
    if (!isRequestId(requestId)) return null;
    if (credential.kind === 'key') return deps.generations.get(credential.licenseId, requestId);
    const owned = await deps.licenses.listByOwner(credential.ownerId);
    return deps.generations.find(
      owned.map(({ licenseId }) => licenseId),
      requestId,
    );
  },
  async run({ request, deps, loaded, runtime }) {
    readQuery(request, []);
    if (loaded === null || loaded.expiresAtMs <= runtime.clock.now()) {
      throw new ServiceError('REQUEST_NOT_FOUND', 'No stored request has this ID.');
    }
    return ok(await storedGeneration(loaded, deps.objects));
  },
});
