import { objectStore } from '../shared/adapters/object-store.ts';
import type { GenerationList } from '../shared/contracts/generation.ts';
import { readCursor, readLimit, writeCursor } from '../shared/http/paging.ts';
import { ok } from '../shared/http/answer.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { readQuery } from '../shared/http/request.ts';
import { routes } from '../shared/routes.ts';
import { generationStore } from '../shared/store/generation-store.ts';
import { storedGeneration } from '../shared/workflow/answers.ts';

/** GET /generate: the access record's stored requests, newest first. */
export const handler = endpoint(routes.listGenerations, {
  deps: ({ table, env }) => ({ generations: generationStore(table()), objects: objectStore(env.bucketName) }),
  async run({ request, caller, deps, runtime }) {
    const query = readQuery(request, ['limit', 'cursor']);
    const limit = readLimit(query.limit);
    const page = await deps.generations.list(caller.license.licenseId, limit + 1, readCursor(query.cursor));
    const kept = page.filter(({ expiresAtMs }) => expiresAtMs > runtime.clock.now());
    const shown = kept.slice(0, limit);
    const list: GenerationList = {
      generations: await Promise.all(shown.map((generation) => storedGeneration(generation, deps.objects))),
      nextCursor: kept.length > limit ? writeCursor(shown.at(-1)!.requestId) : null,
    };
    return ok(list);
  },
});
