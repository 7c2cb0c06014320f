import { endpoint } from '../shared/http/endpoint.ts';
import { answerGeneration, generationDeps, readForGeneration } from '../shared/http/generation-request.ts';
import { readJsonBody } from '../shared/http/request.ts';
import * as routes from '../shared/routes/table.ts';

/** POST /generate. A 200 always has a stored, charged record and its images behind it. */
export const handler = endpoint(routes.createGeneration, {
  deps: generationDeps,
  async run({ request, caller, deps }) {
    const order = { ...caller, body: readJsonBody(request) };
    const reads = await readForGeneration(request, order, deps);
    return answerGeneration(request, order, reads, deps.workflow);
  },
});
