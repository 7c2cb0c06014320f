import { files } from './environment.ts';
import { ApiError, ConnectionError, isApiError } from './errors.ts';
import { generate } from './generate.ts';
import type { WithImages } from './images.ts';
import { digestOf, type Prepare } from './references.ts';
import type { Requester } from './requester.ts';
import { isBusy, pause } from './retry.ts';
import type { CallOptions } from './routes.ts';
import type { GenerationRequest, GenerationResult, KeyAllowance } from './types.ts';

/** A body of POST /generate that JSON can say: files are named by their path. */
export interface BatchLine extends Omit<GenerationRequest, 'referenceImages'> {
  referenceImages?: (NonNullable<GenerationRequest['referenceImages']>[number] | { path: string })[] | null;
}

/** What is known of a line. */
export type BatchEntry =
  | { state: 'sent'; sentAtMs: number; referenceImages?: GenerationRequest['referenceImages'] }
  | { state: 'failed' }
  | { state: 'completed'; requestId: string };

/** Keeps what is known of the lines, by their idempotency keys. A `Map` is one; `batchFile` outlives the process. */
export interface BatchStore {
  get(key: string): BatchEntry | undefined | Promise<BatchEntry | undefined>;
  /** Resolves once the entry is stored: a line is sent after that. */
  set(key: string, entry: BatchEntry): unknown;
}

/** How a line ended. Lines count from 1. */
export type BatchOutcome =
  | { line: number; result: WithImages<GenerationResult>; error?: undefined }
  | { line: number; error: Error; result?: undefined };

export interface BatchOptions extends CallOptions {
  /** Names the wish: the same lines under another name are other images, and charged. */
  batchId: string;
  store: BatchStore;
  /** Called as each line ends. A line counts as completed once it has resolved, so save the images in it. */
  onResult: (outcome: BatchOutcome) => unknown;
  /** How many are in flight at once; as many as the key may have by default. */
  concurrency?: number | undefined;
  /** Sends lines, too, that were sent a day ago without a known end: they may be charged twice. */
  again?: boolean | undefined;
}

export interface BatchSummary {
  completed: number;
  failed: number;
  /** Completed by an earlier run. */
  skipped: number;
  /** Lines that were sent a day ago without a known end. They were not sent again. */
  unknown: number[];
}

interface BatchDeps {
  requester: Requester;
  prepare: Prepare;
  key: (options: CallOptions) => Promise<KeyAllowance>;
  withImages: (result: GenerationResult) => WithImages<GenerationResult>;
}

// The service keeps an idempotency key for a day. An hour less, since the tries of a line take a while.
const resentForMs = 23 * 3_600_000;
const longestRestSeconds = 3600;

/**
 * Generates thousands of images, as fast as the key's limits allow. What failed or was cut off is sent again by the next run with the
 * same lines, `batchId` and `store`; what completed is not charged again.
 * @throws what ends all of it: a key that is refused, credits that are used, no connection, the signal's reason, and errors of
 * `store` and `onResult`. What was in flight is waited for.
 */
export async function batch(
  deps: BatchDeps,
  lines: Iterable<BatchLine> | AsyncIterable<BatchLine>,
  options: BatchOptions,
): Promise<BatchSummary> {
  const { signal } = options;
  const { requests, license, maxInFlight } = await deps.key({ signal });
  const stop = new AbortController();
  const pace = paceOf(requests, AbortSignal.any([stop.signal, ...(signal ? [signal] : [])]));
  const summary: BatchSummary = { completed: 0, failed: 0, skipped: 0, unknown: [] };
  // Shared by all workers: when one of them ends, so does it.
  const numbered = numberLines(lines);
  const work = async (): Promise<void> => {
    for await (const [line, body] of numbered) await runLine(deps, options, pace, { line, body, summary });
  };
  const places = options.concurrency ?? Math.min(license.maxInFlight, maxInFlight ?? Infinity);
  const working = Array.from({ length: places }, () => work().catch((error: unknown) => stop.abort(error)));
  await Promise.all(working);
  if (stop.signal.aborted) throw stop.signal.reason;
  return summary;
}

async function* numberLines(lines: Iterable<BatchLine> | AsyncIterable<BatchLine>) {
  let line = 0;
  for await (const body of lines) yield [++line, body] as const;
}

interface Sent {
  key: string;
  body: BatchLine;
  before: (BatchEntry & { state: 'sent' }) | undefined;
}

interface Line {
  line: number;
  body: BatchLine;
  summary: BatchSummary;
}

async function runLine(
  deps: BatchDeps,
  options: BatchOptions,
  pace: Pace,
  { line, body, summary }: Line,
): Promise<void> {
  const { batchId, store, onResult, again = false } = options;
  const key = await digestOf(new TextEncoder().encode(JSON.stringify([batchId, line, body])));
  const entry = await store.get(key);
  if (entry?.state === 'completed') return void summary.skipped++;
  const before = entry?.state === 'sent' && Date.now() - entry.sentAtMs < resentForMs ? entry : undefined;
  if (entry?.state === 'sent' && before === undefined && !again) return void summary.unknown.push(line);
  let outcome: BatchOutcome;
  try {
    outcome = { line, result: deps.withImages(await send(deps, options, pace, { key, body, before })) };
  } catch (error) {
    if (isUncharged(error)) await store.set(key, { state: 'failed' });
    if (endsAll(error) || options.signal?.aborted) throw error;
    outcome = { line, error: error as Error };
  }
  await onResult(outcome);
  const { result } = outcome;
  if (result !== undefined) await store.set(key, { state: 'completed', requestId: result.requestId });
  summary[result === undefined ? 'failed' : 'completed']++;
}

/** Sends a line, with the body that it was sent with before, until it has ended. What a busy service refuses rests all lines. */
async function send(
  deps: BatchDeps,
  options: BatchOptions,
  pace: Pace,
  line: Sent,
): Promise<GenerationResult> {
  const { key, body, before } = line;
  const { signal, store } = options;
  const requester: Requester = {
    ...deps.requester,
    retry: (work, how) =>
      deps.requester.retry(work, { ...how, isRetried: (error) => !isBusy(error) && how.isRetried(error) }),
  };
  let reused = before?.referenceImages;
  let sent = reused ? { ...body, referenceImages: reused } : await deps.prepare(body, { signal });
  for (let failures = 1; ; failures++) {
    await pace.turn();
    if (before === undefined || reused === undefined) {
      const { referenceImages } = sent;
      const sentAtMs = before?.sentAtMs ?? Date.now();
      await store.set(key, { state: 'sent', sentAtMs, ...(sent !== body && { referenceImages }) });
    }
    try {
      return await generate(requester, 'POST /generate', sent, { idempotencyKey: key, wait: 60, signal });
    } catch (error) {
      const restMs = restMsAfter(error, failures);
      if (restMs !== null) pace.rest(restMs);
      else if (reused === undefined || !isApiError(error, 'INVALID_PARAMETERS')) throw error;
      // The uploads of an earlier run have expired, and nothing was made with them.
      else [reused, sent] = [undefined, await deps.prepare(body, { signal })];
    }
  }
}

/** For how long nothing is sent; null where resting is no use. */
function restMsAfter(error: unknown, failures: number): number | null {
  if (!isBusy(error) || endsAll(error)) return null;
  return 1000 * Math.max(Math.min(60, 2 ** (failures - 1)), (error as ApiError).retryAfterSeconds ?? 0);
}

/** Whether the other lines would fare no better. */
function endsAll(error: unknown): boolean {
  if (!(error instanceof ApiError)) return error instanceof ConnectionError;
  if (['INVALID_API_KEY', 'CREDIT_LIMIT_EXCEEDED', 'UNEXPECTED_ANSWER'].includes(error.code)) return true;
  return isBusy(error) && (error.retryAfterSeconds ?? 0) > longestRestSeconds;
}

/** Whether it is certain that nothing of the line runs: a repeat of what was accepted would have been answered otherwise. */
function isUncharged(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 400 || error.code === 'CREDIT_LIMIT_EXCEEDED');
}

interface Pace {
  /** Resolves when one more request may be sent. @throws the signal's reason */
  turn(): Promise<void>;
  /** Nothing is sent for so long. */
  rest(ms: number): void;
}

// Requests take differently long to arrive.
const minuteMs = 60_250;

/** As many requests in any minute as the key may send. What it has sent before counts. */
function paceOf({ perMinute, remaining, resetSeconds }: KeyAllowance['requests'], signal: AbortSignal): Pace {
  const freeAtMs = Array.from(
    { length: perMinute - remaining },
    (_, used) => Date.now() + (used === 0 ? resetSeconds * 1000 : minuteMs),
  );
  let restUntilMs = 0;
  let last = Promise.resolve();
  const next = async (): Promise<void> => {
    const freeMs = freeAtMs.length < perMinute ? 0 : freeAtMs.shift()!;
    const waitMs = (): number => Math.max(freeMs, restUntilMs) - Date.now();
    // It is told to rest while it waits, too.
    while (waitMs() > 0) await pause(waitMs(), signal);
    signal.throwIfAborted();
    freeAtMs.push(Date.now() + minuteMs);
  };
  return {
    turn: () => (last = last.catch(() => {}).then(next)),
    rest: (ms) => void (restUntilMs = Math.max(restUntilMs, Date.now() + ms)),
  };
}

/**
 * A store in a file of lines of JSON, in Node, Deno and Bun. Each entry is on the disk before its line is sent; one that a crash cut
 * off is ignored. One process at a time may use it.
 */
export async function batchFile(path: string | URL): Promise<BatchStore> {
  const read = await files()
    .readFile(path)
    .catch((error: { code?: string }) => {
      if (error.code === 'ENOENT') return new Uint8Array();
      throw error;
    });
  const entries = new Map<string, BatchEntry>();
  for (const text of new TextDecoder().decode(read).split('\n')) {
    try {
      const [key, entry] = JSON.parse(text) as [string, BatchEntry];
      entries.set(key, entry);
    } catch {
      // Cut off, or the empty start.
    }
  }
  return {
    get: (key) => entries.get(key),
    async set(key, entry) {
      await files().appendFile(path, `\n${JSON.stringify([key, entry])}`, { flush: true });
      entries.set(key, entry);
    },
  };
}
