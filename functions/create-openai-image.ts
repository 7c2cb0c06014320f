import { translateOpenAiBody, type TranslatedBody } from '../shared/openai/contract.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { readCommand, waitingGenerationDeps } from '../shared/http/generation-request.ts';
import { openAiErrorAnswer } from '../shared/openai/errors.ts';
import { imagesAnswer } from '../shared/openai/images.ts';
import { readJsonBody, type ApiRequest } from '../shared/http/request.ts';
import type { Runtime } from '../shared/http/runtime.ts';
import { noteRefusal, readSdkTry } from '../shared/openai/sdk-tries.ts';
import { acceptTry } from '../shared/generations/accept-try.ts';
import * as routes from '../shared/routes/table.ts';
import { identityByName } from '../shared/identities/store.ts';
import { countAnswerWithImages, imagesSentBefore } from '../shared/generations/image-bytes-store.ts';
import { acceptGeneration, finishGeneration } from '../shared/generations/create.ts';

function translated(request: ApiRequest, { env }: Runtime): TranslatedBody {
  return translateOpenAiBody(readJsonBody(request), env.modelNames);
}

/**
 * OpenAI's POST /images/generations: POST /generate in other words. The status line waits for the outcome, of streams too,
 * so that every failure has its status: there are no events before the last that could be sent earlier.
 */
export const handler = endpoint(routes.createOpenAiImage, {
  deps: waitingGenerationDeps,
  errorAnswer: openAiErrorAnswer,
  afterError({ request, error, deps: { table }, runtime }) {
    const readMembers = () => {
      const { body, form } = translated(request, runtime);
      return [body, form];
    };
    return noteRefusal(request, error, readMembers, { table, nowMs: runtime.clock.now() });
  },
  async run({ request, caller, deps: { table, identities, workflow }, runtime }) {
    const { body, problem, form, ignored } = translated(request, runtime);
    if (ignored.length > 0) request.responseHeaders['x-ignored-parameters'] = ignored.join(', ');
    const byName = { get: (name: string) => identityByName(identities, name) };
    const command = {
      ...(await readCommand(request, { ...caller, body }, { table, identities: byName })),
      queryParameters: [],
      bodyProblem: problem,
      respondAsync: false,
    };
    const { meter, traceparent } = request;
      const deps = { ...workflow, meter, traceparent, table };
    const sdkTry = readSdkTry(request, [body, form]);
    const accepted = await (sdkTry === null
      ? acceptGeneration(command, deps)
      : acceptTry(command, sdkTry, deps));
    const { generation } = accepted;
    if (accepted.outcome === 'replayed') {
      Object.assign(request.responseHeaders, {
        'idempotent-replayed': 'true',
        'x-request-id': generation.requestId,
      });
      const maySend = form === 'url' || (await countAnswerWithImages(table, generation));
      if (!maySend && form !== 'both') throw imagesSentBefore(generation);
      return imagesAnswer(generation, accepted.answer.outputs, maySend ? form : 'url');
    }
    request.meter.add('acceptTime', deps.clock.now() - request.receivedAtMs);
    const { outputs } = await finishGeneration(accepted, caller.license, {}, deps);
    return imagesAnswer(generation, outputs, form);
  },
});
