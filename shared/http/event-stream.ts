import { PassThrough } from 'node:stream';
import type { ServiceError } from '../errors.ts';
import { errorBody, type Answer } from './answer.ts';
import { asServiceError } from './backend-failure.ts';
import { singleHeader, type ApiRequest } from './request.ts';

export type Emit = (event: string, data: unknown) => void;

/** Whether the client asked for server-sent events. */
export function wantsEvents(request: ApiRequest): boolean {
  const types = (singleHeader(request, 'accept') ?? '').toLowerCase().split(',');
  return types.some((type) => type.split(';')[0]!.trim() === 'text/event-stream');
}

/**
 * Answers 200 at once and sends events while `work` runs (WHATWG HTML, "Server-sent events"). Its result becomes
 * `completed`, its error `failed` with the status it would have had. A client that hangs up does not end the work.
 */
export function eventAnswer(
  request: ApiRequest,
  work: (emit: Emit) => Promise<unknown>,
  onFault: (error: ServiceError) => void,
): Answer {
  const stream = new PassThrough();
  stream.on('error', () => {});
  const emit: Emit = (event, data) => {
    if (!stream.destroyed) stream.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  };
  const running = work(emit).then(
    (result) => emit('completed', result),
    (thrown: unknown) => {
      const error = asServiceError(thrown);
      request.logFields.code = error.code;
      if (error.cause !== undefined) onFault(error);
      emit('failed', { ...errorBody(error), status: error.status });
    },
  );
  request.background.push(running.finally(() => stream.end()));
  return { status: 200, body: undefined, stream };
}
