import { endpoint } from '../shared/http/endpoint.ts';
import { answerGeneration } from '../shared/http/generation-answers.ts';
import { generationDeps, readCommand } from '../shared/http/generation-request.ts';
import { readJsonBody } from '../shared/http/request.ts';
import * as routes from '../shared/routes/table.ts';

/**
 * POST /generate. A 200 in JSON has a stored, charged record and its images behind it, unless it answers a dry run. An event
 * stream begins with 200 before its outcome is known.
 */
export const handler = endpoint(routes.createGeneration, {
  deps: generationDeps,
  async run({ request, caller, deps }) {
    const command = await readCommand(request, { ...caller, body: readJsonBody(request) }, deps);
    return answerGeneration(request, command, deps.workflow);
  },
});
