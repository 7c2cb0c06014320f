import { endpoint } from '../shared/http/endpoint.ts';
import { waitingGenerationDeps } from '../shared/http/generation-request.ts';
import { readQuery } from '../shared/http/request.ts';
import { answerMessage } from '../shared/mcp/answer-message.ts';
import * as routes from '../shared/routes/table.ts';

/** POST /mcp: the Model Context Protocol, another way to what the other routes by key do. */
export const handler = endpoint(routes.answerAgent, {
  deps: waitingGenerationDeps,
  async run({ request, caller, deps, runtime: { env, log } }) {
    readQuery(request, []);
    return answerMessage({ request, caller, deps, log }, env.allowedOrigins);
  },
});
