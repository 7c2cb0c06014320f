import { endpoint } from '../shared/http/endpoint.ts';
import {
  answerGeneration,
  generationDeps,
  prefetchForGeneration,
} from '../shared/http/generation-request.ts';
import { readJsonBody } from '../shared/http/request.ts';
import { routes } from '../shared/routes.ts';

/** POST /generate. A 200 always has a stored, charged record and its images behind it. */
export const handler = endpoint(routes.createGeneration, {
  deps: generationDeps,
  load: ({ request, credential, deps }) => prefetchForGeneration(request, credential.callerId, deps.table),
  run: ({ request, caller, deps, loaded }) =>
    answerGeneration(request, { ...caller, body: readJsonBody(request) }, loaded, deps.workflow),
});
