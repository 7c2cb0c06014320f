import { ApiError } from '../../api/api-error.ts';
import type { Api } from '../../api/client.ts';
import { generate, type Generated, type PlaygroundBody } from '../../api/generate.ts';
import { createStore } from '../../lib/store.ts';
import type { Place } from './place.ts';
import type { Reference } from './references/reference.ts';
import type { Result } from './results.ts';

export type RunPhase = 'uploading' | 'sending' | 'queued' | 'running' | 'disconnected';

/** A generation that is under way. */
export interface Run extends GenerationCommand {
  phase: RunPhase;
  /** Null until it is known to wait. */
  place: Place | null;
  /** Null until the first report. */
  progress: { step: number; steps: number } | null;
  requestId: string | null;
  startedAtMs: number;
}

/** The generation that was refused or failed last. */
export interface Failure {
  command: GenerationCommand;
  error: unknown;
  atMs: number;
}

export interface RunState {
  run: Run | null;
  failure: Failure | null;
  /** The run whose waiting was stopped, with its request's id if it was accepted. */
  left: { requestId: string | null } | null;
  /** Newest first. */
  results: Result[];
  /** The request whose images are shown. */
  shownId: string | null;
}

/** What to generate. Sending the same command again keeps its idempotency key, so it is charged once. */
export interface GenerationCommand {
  body: PlaygroundBody;
  references: readonly Reference[];
  identityName: string;
  idempotencyKey: string;
}

export interface RunListeners {
  /** Completes the command before it is sent: uploads its images. @throws ApiError, and the signal's reason */
  prepare?: ((command: GenerationCommand, signal: AbortSignal) => Promise<GenerationCommand>) | undefined;
  /** Called when history and usage have changed: the run was accepted, or it ended. */
  onChange?: () => void;
  onDone?: (result: Result) => void;
  onFailed?: (error: unknown, command: GenerationCommand) => void;
}

const keptResults = 24;
const empty: RunState = { run: null, failure: null, left: null, results: [], shownId: null };

/**
 * Holds the current run and the results of this visit. It is outside of any component, so that a run goes on when
 * somebody leaves the screen.
 */
export function createRunStore(now: () => number = Date.now) {
  const { subscribe, get, set } = createStore(empty);
  let waiting: AbortController | null = null;
  return {
    subscribe,
    state: get,
    /** Sends the command, unless a run is under way. Resolves when the run has ended, also when it failed. */
    async start(api: Api, given: GenerationCommand, listeners: RunListeners = {}): Promise<void> {
      if (get().run !== null) return;
      const { prepare, onChange, onDone, onFailed } = listeners;
      let command = given;
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
          command = await prepare(given, stop.signal);
          patch({ ...command, phase: 'sending' });
        }
        const generated = await send(api, command, stop.signal, patch, onChange);
        if (waiting !== stop) return;
        const result = toResult(generated, command, now() - startedAtMs);
        set({ run: null, results: withResult(get().results, result), shownId: result.requestId });
        onDone?.(result);
      } catch (error) {
        if (waiting !== stop) return;
        set({ run: null, failure: { command, error, atMs: now() } });
        onFailed?.(error, command);
      }
      onChange?.();
    },
    /** Stops waiting. The generation goes on and is stored. */
    leave(): void {
      const { run } = get();
      if (run === null) return;
      waiting?.abort();
      waiting = null;
      // Nothing was sent while images were uploading.
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

function newRun(command: GenerationCommand, startedAtMs: number, uploading: boolean): Run {
  const phase = uploading ? 'uploading' : 'sending';
  return { ...command, phase, place: null, progress: null, requestId: null, startedAtMs };
}

function send(
  api: Api,
  { body, idempotencyKey }: GenerationCommand,
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
    onQueued: (place) => patch({ phase: 'queued', place }),
    onStarted: () => patch({ phase: 'running' }),
    onProgress: (progress) => patch({ phase: 'running', progress }),
    onDisconnected: () => patch({ phase: 'disconnected' }),
  });
}

function toResult(generated: Generated, { body, references }: GenerationCommand, waitedMs: number): Result {
  return { ...generated, body, references, waitedMs };
}

function withResult(results: Result[], result: Result): Result[] {
  // A repeated command may get a result that is in the list already.
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

/** Seconds until the rate limit allows the next request; 0 when it does now. */
export function waitSeconds(failure: Failure | null, nowMs: number): number {
  const error = failure?.error;
  if (failure === null || !(error instanceof ApiError) || error.code !== 'RATE_LIMITED') return 0;
  const untilMs = failure.atMs + (error.retryAfterSeconds ?? 0) * 1000;
  return Math.max(0, Math.ceil((untilMs - nowMs) / 1000));
}
