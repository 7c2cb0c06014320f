import { isFinal, pollAfterSeconds } from '../shared/generations/generation.ts';
import { ok } from '../shared/http/answer.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { imageStore } from '../shared/http/image-store.ts';
import { callersGeneration } from '../shared/http/owned-generation.ts';
import { readQuery } from '../shared/http/request.ts';
import * as routes from '../shared/routes/table.ts';
import { generationStore } from '../shared/generations/store.ts';
import { licenseStore } from '../shared/licenses/store.ts';
import { storedAnswer } from '../shared/generations/answers.ts';

/** GET /generate/{requestId}. Looks among the caller's own requests only, so another caller's is not found. */
export const handler = endpoint(routes.getGeneration, {
  deps: (runtime) => ({
    generations: generationStore(runtime.table()),
    licenses: licenseStore(runtime.table()),
    objects: imageStore(runtime),
    clock: runtime.clock,
  }),
  async run({ request, caller, deps }) {
    readQuery(request, []);
    const generation = await callersGeneration(request, caller, deps);
    const retryAfter = pollAfterSeconds(generation, deps.clock.now());
    const headers = isFinal(generation.status) ? {} : { 'retry-after': String(retryAfter) };
    return ok(await storedAnswer(generation, deps.objects), headers);
  },
});
