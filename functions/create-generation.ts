import { endpoint } from '../shared/http/endpoint.ts';
import {
  answerGeneration,
  generationDeps,
  readGenerationRequest,
} from '../shared/http/generation-request.ts';
import { routes } from '../shared/routes.ts';

/** POST /generate. A 200 always has a stored, charged record and its images behind it. */
export const handler = endpoint(routes.createGeneration, {
  deps: generationDeps,
  load: ({ request, key, deps }) => readGenerationRequest(request, key.keyId, deps.table),
  run: ({ request, caller, deps, loaded }) =>
    answerGeneration(request, { keyId: caller.key.keyId, license: caller.license }, loaded, deps.workflow),
});
