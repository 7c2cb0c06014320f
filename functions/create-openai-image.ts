import { translateOpenAiBody } from '../shared/openai/contract.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { commandOf, readForGeneration, waitingDeps } from '../shared/http/generation-request.ts';
import { openAiErrorAnswer } from '../shared/openai/errors.ts';
import { imagesAnswer } from '../shared/openai/images.ts';
import { readJsonBody } from '../shared/http/request.ts';
import * as routes from '../shared/routes/table.ts';
import { identityByName } from '../shared/identities/store.ts';
import { acceptGeneration, finishGeneration } from '../shared/generations/create.ts';

/**
 * OpenAI's POST /images/generations: POST /generate in other words. The status line waits for the outcome, of streams too,
 * so that every failure has its status: there are no events before the last that could be sent earlier.
 */
export const handler = endpoint(routes.createOpenAiImage, {
  deps: waitingDeps,
  errorAnswer: openAiErrorAnswer,
  async run({ request, caller, deps: { table, identities, workflow }, runtime }) {
    const { body, problem, form, ignored } = translateOpenAiBody(
      readJsonBody(request),
      runtime.env.modelNames,
    );
    if (ignored.length > 0) request.responseHeaders['x-ignored-parameters'] = ignored.join(', ');
    const order = { ...caller, body };
    const byName = { get: (name: string) => identityByName(identities, name) };
    const reads = await readForGeneration(request, order, { table, identities: byName });
    const command = {
      ...commandOf(request, order, reads),
      queryParameters: [],
      bodyProblem: problem,
      respondAsync: false,
    };
    const deps = { ...workflow, meter: request.meter };
    const acceptance = await acceptGeneration(command, deps);
    const { generation } = acceptance;
    if (acceptance.outcome === 'replayed') {
      Object.assign(request.responseHeaders, {
        'idempotent-replayed': 'true',
        'x-request-id': generation.requestId,
      });
      return imagesAnswer(generation, acceptance.answer.outputs, form);
    }
    request.meter.add('acceptTime', deps.clock.now() - request.receivedAtMs);
    const { outputs } = await finishGeneration(acceptance, caller.license, {}, deps);
    return imagesAnswer(generation, outputs, form);
  },
});
