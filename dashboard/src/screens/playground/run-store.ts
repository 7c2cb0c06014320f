import { ApiError } from '../../api/api-error.ts';
import type { Api } from '../../api/client.ts';
import { accept, type PlaygroundBody } from '../../api/generate.ts';
import { keepDraft, recallDraft, type TabStorage } from '../../lib/drafts.ts';
import { createStore } from '../../lib/store.ts';
import type { Reference } from './references/reference.ts';

/** What to generate. Sending the same command again keeps its idempotency key, so it is charged once. */
export interface GenerationCommand {
  body: PlaygroundBody;
  references: readonly Reference[];
  identityName: string;
  idempotencyKey: string;
}

/** A command that is on its way to the service. */
export interface Sending extends GenerationCommand {
  phase: 'uploading' | 'sending';
  startedAtMs: number;
}

/** The command that was refused last. */
export interface Failure {
  command: GenerationCommand;
  error: unknown;
  atMs: number;
}

export interface RunState {
  sending: Sending | null;
  failure: Failure | null;
  /** The ids of this tab's requests, newest first. */
  runs: readonly string[];
  shownId: string | null;
  /** Those whose end was not seen yet, newest first. */
  open: readonly string[];
}

/** What only this page knows of a request: the images that it was sent with, and when by this computer's clock. */
export interface Sent {
  command: GenerationCommand;
  startedAtMs: number;
}

export interface RunListeners {
  /** Completes the command before it is sent: uploads its images. @throws ApiError, and the signal's reason */
  prepare?: ((command: GenerationCommand, signal: AbortSignal) => Promise<GenerationCommand>) | undefined;
  onAccepted?: (requestId: string) => void;
  onRefused?: (error: unknown, command: GenerationCommand) => void;
}

// Each is looked at when the page is loaded, and an account may look at 60 requests a minute.
const keptRuns = 12;
/** Requests that are followed. Those beyond are found in the history. */
const mostOpen = 40;
const key = 'runs';

/**
 * Sends requests, one after the other, and knows which requests are this tab's. It is outside of any component, so that a
 * request is sent although somebody leaves the screen, and its list outlives a reload.
 */
export function createRunStore(storage: () => TabStorage, now: () => number = Date.now) {
  const store = createStore<RunState>({ sending: null, failure: null, ...recall(storage) });
  const sent = new Map<string, Sent>();
  const list = listing(storage, store);
  const accepted = (requestId: string, how: Sent): void => {
    sent.set(requestId, how);
    store.set({ sending: null });
    list.put(requestId, true);
  };
  return {
    subscribe: store.subscribe,
    state: store.get,
    /** What this page knows of a request that it sent. */
    sent: (requestId: string): Sent | undefined => sent.get(requestId),
    /** A request of this account is shown. It is this tab's from now on. */
    show(requestId: string, isOpen: boolean): void {
      const { shownId, runs } = store.get();
      if (shownId !== requestId || !runs.includes(requestId)) list.put(requestId, isOpen);
    },
    ended: list.ended,
    /** There is no such request any more. */
    drop: list.drop,
    ...sendingOf(store, accepted, now),
  };
}

type Store = ReturnType<typeof createStore<RunState>>;

function sendingOf({ get, set }: Store, accepted: (requestId: string, how: Sent) => void, now: () => number) {
  let stop = new AbortController();
  return {
    /** Sends the command, unless another is being sent. @returns the request's id once it is accepted; null where it is not. */
    async start(api: Api, given: GenerationCommand, listeners: RunListeners = {}): Promise<string | null> {
      if (get().sending !== null) return null;
      const { prepare, onAccepted, onRefused } = listeners;
      const { signal } = (stop = new AbortController());
      const startedAtMs = now();
      const phase = prepare === undefined ? 'sending' : 'uploading';
      let command = given;
      set({ sending: { ...given, startedAtMs, phase }, failure: null });
      try {
        if (prepare !== undefined) {
          command = await prepare(given, signal);
          signal.throwIfAborted();
          set({ sending: { ...command, startedAtMs, phase: 'sending' } });
        }
        const { requestId } = await accept(api, command);
        accepted(requestId, { command, startedAtMs });
        onAccepted?.(requestId);
        return requestId;
      } catch (error) {
        if (signal.aborted) return null;
        set({ sending: null, failure: { command, error, atMs: now() } });
        onRefused?.(error, command);
        return null;
      }
    },
    /** Takes back what was not sent yet. A request that was accepted is cancelled at the service. */
    cancel(): void {
      if (get().sending?.phase !== 'uploading') return;
      stop.abort();
      set({ sending: null });
    },
  };
}

/** The list of this tab's requests, and the one that was shown last. */
function listing(storage: () => TabStorage, { get, set }: Store) {
  const become = (change: Partial<RunState>): void => {
    set(change);
    const { runs, shownId, open } = get();
    keepDraft(key, { runs, shownId, open }, storage);
  };
  return {
    put(requestId: string, isOpen: boolean): void {
      const { runs, open } = get();
      become({
        runs: newestFirst([requestId, ...runs]).slice(0, keptRuns),
        shownId: requestId,
        open: isOpen ? newestFirst([requestId, ...open]).slice(0, mostOpen) : open,
      });
    },
    drop(requestId: string): void {
      const { runs, shownId, open } = get();
      become({
        runs: without(requestId, runs),
        shownId: shownId === requestId ? null : shownId,
        open: without(requestId, open),
      });
    },
    ended(requestId: string): void {
      become({ open: without(requestId, get().open) });
    },
  };
}

/** The ids begin with the time, so their order is that of the requests. */
function newestFirst(ids: readonly string[]): string[] {
  return [...new Set(ids)].toSorted().toReversed();
}

function without(requestId: string, ids: readonly string[]): string[] {
  return ids.filter((id) => id !== requestId);
}

type Kept = Pick<RunState, 'runs' | 'shownId' | 'open'>;

function recall(storage: () => TabStorage): Kept {
  const isId = (id: unknown): id is string => typeof id === 'string' && id !== '';
  const ids = (list: unknown): string[] => (Array.isArray(list) ? list.filter(isId) : []);
  const { runs, shownId, open } = recallDraft(key, storage);
  return {
    runs: ids(runs).slice(0, keptRuns),
    shownId: isId(shownId) ? shownId : null,
    open: ids(open).slice(0, mostOpen),
  };
}

const notWorthRepeating = new Set([
  'CREDIT_LIMIT_EXCEEDED',
  'TIER_LIMIT',
  'INVALID_PARAMETERS',
  'CONTENT_REFUSED',
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

/** When the rate limit allows the next request; 0 where it does not stand in the way. */
export function mayGoOnAtMs(failure: Failure | null): number {
  const error = failure?.error;
  if (failure === null || !(error instanceof ApiError) || error.code !== 'RATE_LIMITED') return 0;
  return failure.atMs + (error.retryAfterSeconds ?? 0) * 1000;
}
