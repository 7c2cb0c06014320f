import { ApiError } from '../../api/api-error.ts';
import type { Api } from '../../api/client.ts';
import { generate, type Generated, type PlaygroundBody } from '../../api/generate.ts';
import type { Reference } from './references/reference.ts';
import type { Result } from './results.ts';
import { createWatched } from './watched.ts';

export type RunPhase = 'uploading' | 'sending' | 'queued' | 'running' | 'disconnected';

/** What is under way. */
export interface Run extends Order {
  phase: RunPhase;
  /** Null until the first report. */
  progress: { step: number; steps: number } | null;
  requestId: string | null;
  startedAtMs: number;
}

/** What was refused or failed last. */
export interface Failure {
  order: Order;
  error: unknown;
  atMs: number;
}

export interface RunState {
  run: Run | null;
  failure: Failure | null;
  /** The run that nobody waits for any more; its request's id once it was accepted. */
  left: { requestId: string | null } | null;
  /** Newest first. */
  results: Result[];
  /** The request whose images are shown. */
  shownId: string | null;
}

/** A request to send. A repeat of the same order keeps its key: if the first one succeeded after all, that result comes. */
export interface Order {
  body: PlaygroundBody;
  references: readonly Reference[];
  identityName: string;
  idempotencyKey: string;
}

export interface RunListeners {
  /** Completes the order before it is sent: uploads its images. @throws ApiError, and the signal's reason */
  prepare?: ((order: Order, signal: AbortSignal) => Promise<Order>) | undefined;
  /** It was accepted or has ended, well or badly: history and usage have changed. */
  onChange?: () => void;
  onDone?: (result: Result) => void;
  onFailed?: (error: unknown, order: Order) => void;
}

export type RunStore = ReturnType<typeof createRunStore>;

const keptResults = 24;
const empty: RunState = { run: null, failure: null, left: null, results: [], shownId: null };

/**
 * Holds the one run that may be under way and the results of this visit, in memory, outside of any component: leaving
 * the screen ends nothing. For `useSyncExternalStore`.
 */
export function createRunStore(now: () => number = Date.now) {
  const { subscribe, get, set } = createWatched(empty);
  let waiting: AbortController | null = null;
  return {
    subscribe,
    state: get,
    /** Sends the order, unless something is under way. Resolves when it has ended, however that was. */
    async start(api: Api, given: Order, listeners: RunListeners = {}): Promise<void> {
      if (get().run !== null) return;
      const { prepare, onChange, onDone, onFailed } = listeners;
      let order = given;
      const stop = new AbortController();
      waiting = stop;
      const startedAtMs = now();
      const patch = (change: Partial<Run>): void => {
        const { run } = get();
        if (waiting === stop && run !== null) set({ run: { ...run, ...change } });
      };
      set({ run: newRun(given, startedAtMs, prepare !== undefined), failure: null, left: null });
      try {
        if (prepare !== undefined) {
          order = await prepare(given, stop.signal);
          patch({ ...order, phase: 'sending' });
        }
        const generated = await send(api, order, stop.signal, patch, onChange);
        if (waiting !== stop) return;
        const result = toResult(generated, order, now() - startedAtMs);
        set({ run: null, results: withResult(get().results, result), shownId: result.requestId });
        onDone?.(result);
      } catch (error) {
        if (waiting !== stop) return;
        set({ run: null, failure: { order, error, atMs: now() } });
        onFailed?.(error, order);
      }
      onChange?.();
    },
    /** Ends the waiting; the generation goes on and is stored. */
    leave(): void {
      const { run } = get();
      if (run === null) return;
      waiting?.abort();
      waiting = null;
      // What was never sent is simply gone.
      set({ run: null, left: run.phase === 'uploading' ? null : { requestId: run.requestId } });
    },
    show: (requestId: string): void => set({ shownId: requestId, failure: null, left: null }),
    /** Signs the links of a result anew. @returns them. @throws ApiError */
    async renewLinks(api: Api, requestId: string): Promise<string[]> {
      const { outputs } = await api.request('GET /generate/{requestId}', { path: { requestId } });
      set({ results: get().results.map((one) => (one.requestId === requestId ? { ...one, outputs } : one)) });
      return outputs;
    },
  };
}

function newRun(order: Order, startedAtMs: number, uploading: boolean): Run {
  const phase = uploading ? 'uploading' : 'sending';
  return { ...order, phase, progress: null, requestId: null, startedAtMs };
}

function send(
  api: Api,
  { body, idempotencyKey }: Order,
  signal: AbortSignal,
  patch: (change: Partial<Run>) => void,
  onChange: (() => void) | undefined,
): Promise<Generated> {
  return generate(api, {
    body,
    idempotencyKey,
    signal,
    onAccepted: ({ requestId }) => {
      patch({ phase: 'queued', requestId });
      onChange?.();
    },
    onStarted: () => patch({ phase: 'running' }),
    onProgress: (progress) => patch({ phase: 'running', progress }),
    onDisconnected: () => patch({ phase: 'disconnected' }),
  });
}

function toResult(generated: Generated, { body, references }: Order, waitedMs: number): Result {
  return { ...generated, body, references, waitedMs };
}

function withResult(results: Result[], result: Result): Result[] {
  // A repeat may answer with a result that is there already.
  const others = results.filter(({ requestId }) => requestId !== result.requestId);
  return [result, ...others].slice(0, keptResults);
}

const notWorthRepeating = new Set([
  'CREDIT_LIMIT_EXCEEDED',
  'TIER_LIMIT',
  'INVALID_PARAMETERS',
  'INVALID_BODY',
  'MISSING_IDENTITY',
  'IDENTITY_NOT_FOUND',
  'IDENTITY_MISMATCH',
  'LICENSE_INACTIVE',
  'LICENSE_NOT_FOUND',
  'SESSION_ENDED',
  'UNREADABLE_FILE',
]);

/** Whether the same request may succeed a second time. */
export function mayRepeat(error: unknown): boolean {
  return !(error instanceof ApiError && notWorthRepeating.has(error.code));
}

/** Seconds until the service takes requests again; 0 when it takes them now or the wait is for another period. */
export function waitSeconds(failure: Failure | null, nowMs: number): number {
  const error = failure?.error;
  if (failure === null || !(error instanceof ApiError) || error.code !== 'RATE_LIMITED') return 0;
  const untilMs = failure.atMs + (error.retryAfterSeconds ?? 0) * 1000;
  return Math.max(0, Math.ceil((untilMs - nowMs) / 1000));
}
