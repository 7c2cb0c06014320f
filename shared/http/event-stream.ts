import { PassThrough } from 'node:stream';
import type { ServiceError } from '../base/errors.ts';
import { errorBody, type Answer } from './answer.ts';
import { asServiceError } from './backend-failure.ts';
import { noteError, type ApiRequest } from './request.ts';

export type Emit = (event: string, data: unknown) => void;

/**
 * Whether the client would rather have server-sent events than JSON. Who reads events says so by their name: a client that
 * takes any text expects one answer.
 */
export function wantsEvents(request: Pick<ApiRequest, 'headers'>): boolean {
  const weightOf = acceptWeights(request);
  return weightOf('text/event-stream') > weightOf('application/json', 'application/*', '*/*');
}

/**
 * How much the client wants an answer, from 0 to 1, by its Accept headers (RFC 9110, section 12.5.1). Of the media ranges that
 * are asked about, the first that was sent has the weight. What none names is not wanted.
 * @param absent what a request without the header sends in effect
 */
export function acceptWeights(
  { headers }: Pick<ApiRequest, 'headers'>,
  absent = '',
): (...closest: string[]) => number {
  const sent = (headers.get('accept') ?? []).join().toLowerCase();
  const ranges = (sent === '' ? absent : sent).split(',').map(readRange);
  return (...closest) => {
    const named = closest.map((name) => ranges.find((range) => range.name === name));
    return named.find((range) => range !== undefined)?.weight ?? 0;
  };
}

/** A media range and how much it is wanted: 1 where it does not say, 0 where what it says is no weight. */
function readRange(text: string): { name: string; weight: number } {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim());
  const weights = parameters.filter((parameter) => /^q\s*=/.test(parameter));
  if (weights.length === 0) return { name, weight: 1 };
  const weight = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.exec(weights[0]!)?.[1];
  return { name, weight: Number(weight ?? 0) };
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
      noteError(request, error);
      if (error.cause !== undefined) onFault(error);
      emit('failed', { ...errorBody(error), status: error.status });
    },
  );
  request.background.push(running.finally(() => stream.end()));
  return { status: 200, body: undefined, stream };
}
