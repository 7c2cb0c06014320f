import { acceptTry } from '../generations/accept-try.ts';
import { countAnswerWithImages, imagesSentBefore } from '../generations/image-bytes-store.ts';
import { finishGeneration } from '../generations/create.ts';
import { endpoint } from '../http/endpoint.ts';
import { readCommand, waitingGenerationDeps } from '../http/generation-request.ts';
import type { ApiRequest } from '../http/request.ts';
import type { createOpenAiImage, editOpenAiImage } from '../routes/table.ts';
import { translateOpenAiBody } from './contract.ts';
import { openAiErrorAnswer } from './errors.ts';
import { imagesAnswer } from './images.ts';
import { noteRefusal, readSdkTry } from './sdk-tries.ts';

export interface ImagesFormat {
  isEdit: boolean;
  /** @returns the members that were sent, and the text by which a repeat is told from another request. */
  read(request: ApiRequest): { sent: Record<string, unknown>; rawBody: string };
}

/**
 * A route of OpenAI's that makes images: POST /generate in other words. The status line waits for the outcome, of streams too,
 * so that every failure has its status: there are no events before the last that could be sent earlier.
 */
export function imagesEndpoint(
  route: typeof createOpenAiImage | typeof editOpenAiImage,
  { isEdit, read }: ImagesFormat,
) {
  const event = isEdit ? 'image_edit.completed' : 'image_generation.completed';
  return endpoint(route, {
    deps: waitingGenerationDeps,
    errorAnswer: openAiErrorAnswer,
    afterError: ({ request, error, deps: { table } }) => noteRefusal(request, error, table),
    async run({ request, caller, deps: { table, identities, workflow }, runtime }) {
      const { sent, rawBody } = read(request);
      const { body, problem, form, ignored } = translateOpenAiBody(sent, runtime.env.modelNames, { isEdit });
      if (ignored.length > 0) request.responseHeaders['x-ignored-parameters'] = ignored.join(', ');
      const { requestId, query, headers, meter, traceparent } = request;
      const asSent = { requestId, query, headers, rawBody };
      const command = {
        ...(await readCommand(asSent, { ...caller, body }, { table, identities })),
        queryParameters: [],
        bodyProblem: problem,
        respondAsync: false,
      };
      const deps = { ...workflow, meter, traceparent, table };
      const accepted = await acceptTry(command, readSdkTry(request), deps);
      const { generation } = accepted;
      if (accepted.outcome === 'replayed') {
        request.responseHeaders['idempotent-replayed'] = 'true';
        request.responseHeaders['x-request-id'] = generation.requestId;
        const maySend = form === 'url' || (await countAnswerWithImages(table, generation));
        if (!maySend && form !== 'both') throw imagesSentBefore(generation);
        return imagesAnswer(generation, accepted.answer.outputs, maySend ? form : 'url', event);
      }
      meter.add('acceptTime', deps.clock.now() - request.receivedAtMs);
      const { outputs } = await finishGeneration(accepted, caller.license, {}, deps);
      return imagesAnswer(generation, outputs, form, event);
    },
  });
}
