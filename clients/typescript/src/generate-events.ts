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
  let wake = (): void => {};
  const tell = (event: GenerationEvent | null): void => {
    happened.push(event);
    wake();
  };
  const leaving = new AbortController();
  const abort = (): void => leaving.abort(signal!.reason);
  signal?.addEventListener('abort', abort);
  if (signal?.aborted) abort();
  const running = generate(requester, route, body, {
    idempotencyKey,
    signal: leaving.signal,
    onAccepted: (accepted) => tell({ type: 'accepted', ...accepted }),
    onQueued: (queued) => tell({ type: 'queued', ...queued }),
    onStarted: () => tell({ type: 'started' }),
    onProgress: (progress) => tell({ type: 'progress', ...progress }),
    onDisconnected: (disconnected) => tell({ type: 'disconnected', ...disconnected }),
  }).finally(() => tell(null));
  // It is awaited below; until then nobody is told of its error.
  running.catch(() => {});
  try {
    for (let event = happened.shift(); event !== null; event = happened.shift()) {
      if (event !== undefined) yield event;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
    yield { type: 'completed', result: await running };
  } finally {
    signal?.removeEventListener('abort', abort);
    leaving.abort();
  }
}
