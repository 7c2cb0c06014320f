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
  load: ({ request, credential, deps }) => readGenerationRequest(request, credential.callerId, deps.table),
  run: ({ request, caller, deps, loaded }) => answerGeneration(request, caller, loaded, deps.workflow),
});
