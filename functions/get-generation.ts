import { isFinal, pollAfterSeconds, type Generation } from '../shared/generations/generation.ts';
import { ok } from '../shared/http/answer.ts';
import type { CallerOf } from '../shared/http/callers.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { imageStore } from '../shared/http/image-store.ts';
import { readQuery } from '../shared/http/request.ts';
import * as routes from '../shared/routes/table.ts';
import { generationStore, type GenerationStore } from '../shared/generations/store.ts';
import { licenseStore, type LicenseStore } from '../shared/licenses/store.ts';
import { storedAnswer } from '../shared/generations/answers.ts';
import { findGeneration } from '../shared/generations/find.ts';

/** GET /generate/{requestId}. Looks among the caller's own requests only, so another caller's is not found. */
export const handler = endpoint(routes.getGeneration, {
  deps: (runtime) => ({
    generations: generationStore(runtime.table()),
    licenses: licenseStore(runtime.table()),
    objects: imageStore(runtime),
  }),
  async run({ request, caller, deps, runtime }) {
    readQuery(request, []);
    const generation = await findGeneration(
      request.pathParameters.requestId ?? '',
      (requestId) => find(requestId, caller, deps),
      caller.rights,
      runtime.clock.now(),
    );
    const retryAfter = pollAfterSeconds(generation, runtime.clock.now());
    const headers = isFinal(generation.status) ? {} : { 'retry-after': String(retryAfter) };
    return ok(await storedAnswer(generation, deps.objects), headers);
  },
});

async function find(
  requestId: string,
  caller: CallerOf<typeof routes.getGeneration>,
  { generations, licenses }: { generations: GenerationStore; licenses: LicenseStore },
): Promise<Generation | null> {
  if (caller.kind === 'key') return generations.get(caller.licenseId, requestId);
  const owned = await licenses.listByOwner(caller.ownerId);
  return generations.find(
    owned.map(({ licenseId }) => licenseId),
    requestId,
  );
}
