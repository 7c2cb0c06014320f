import { generate, type GenerateOptions, type GenerateRoute } from './generate.ts';
import type { Requester } from './requester.ts';
import type { GenerationEvents, GenerationResult } from './types.ts';

/** What happens to a generation. The last is `completed`. */
export type GenerationEvent<Result = GenerationResult> =
  | ({ type: 'accepted' } & GenerationEvents['accepted'])
  | ({ type: 'queued' } & GenerationEvents['queued'])
  | { type: 'started' }
  | ({ type: 'progress' } & GenerationEvents['progress'])
  | { type: 'disconnected'; requestId: string }
  | { type: 'completed'; result: Result };

export type GenerateEventsOptions = Pick<GenerateOptions, 'idempotencyKey' | 'signal'>;

/**
 * Generates like `generate`, once it is iterated, and yields what happens. Leaving the loop ends the waiting, not the
 * generation.
 * @throws what `generate` throws
 */
export async function* generateEvents(
  requester: Requester,
  route: GenerateRoute,
  body: object,
  { idempotencyKey, signal }: GenerateEventsOptions = {},
): AsyncGenerator<GenerationEvent, void, void> {
  // Null once it has ended.
  const happened: (GenerationEvent | null)[] = [];
  let resume = (): void => {};
  const add = (event: GenerationEvent | null): void => {
    happened.push(event);
    resume();
  };
  const leaving = new AbortController();
  const abort = (): void => leaving.abort(signal!.reason);
  signal?.addEventListener('abort', abort);
  if (signal?.aborted) abort();
  const running = generate(requester, route, body, {
    idempotencyKey,
    signal: leaving.signal,
    onAccepted: (accepted) => add({ type: 'accepted', ...accepted }),
    onQueued: (queued) => add({ type: 'queued', ...queued }),
    onStarted: () => add({ type: 'started' }),
    onProgress: (progress) => add({ type: 'progress', ...progress }),
    onDisconnected: (disconnected) => add({ type: 'disconnected', ...disconnected }),
  }).finally(() => add(null));
  // It is awaited below. Until then its error counts as handled.
  running.catch(() => {});
  try {
    for (let event = happened.shift(); event !== null; event = happened.shift()) {
      if (event !== undefined) yield event;
      else await new Promise<void>((resolve) => (resume = resolve));
    }
    yield { type: 'completed', result: await running };
  } finally {
    signal?.removeEventListener('abort', abort);
    leaving.abort();
  }
}
