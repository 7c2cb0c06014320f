import { pause } from '../../../clients/typescript/src/retry.ts';
import { ApiError } from './api-error.ts';

export interface PatienceOptions {
  signal: AbortSignal;
  /** Told how long the next try waits; 0 once it begins. */
  onWait?: (seconds: number) => void;
  /** Resolves after so many seconds, and throws the signal's reason. */
  wait?: (seconds: number, signal: AbortSignal) => Promise<void>;
}

const maxFailures = 3;
const pauseSeconds = (seconds: number, signal: AbortSignal): Promise<void> => pause(seconds * 1000, signal);

/** Waits as long as a busy service asks for, however often, and repeats what broke on its way a few times. */
export async function patiently<T>(
  work: () => Promise<T>,
  { signal, onWait = () => {}, wait = pauseSeconds }: PatienceOptions,
): Promise<T> {
  for (let failures = 0; ;) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ApiError)) throw error;
      const asked = error.status === 429 || error.status === 503 ? error.retryAfterSeconds : undefined;
      if (asked === undefined) {
        failures += 1;
        if (failures > maxFailures || ![0, 502, 503, 504].includes(error.status)) throw error;
      }
      const waitSeconds = Math.max(1, asked ?? 2 ** failures);
      onWait(waitSeconds);
      await wait(waitSeconds, signal);
      onWait(0);
    }
  }
}

/** All pages of a list, one after another, each read patiently. */
export async function* allPages<Page extends { nextCursor: string | null }>(
  read: (cursor: string | undefined) => Promise<Page>,
  options: PatienceOptions,
): AsyncGenerator<Page, void> {
  let cursor: string | undefined;
  do {
    const page = await patiently(() => read(cursor), options);
    yield page;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
}

/** What an account may delete, and what it may look at, in a minute each, less some for what it does beside a job. */
const startsPerMinute = 55;

/** @returns a function that works as patiently, and begins 55 times in any minute at most */
export function paced(signal: AbortSignal): <T>(work: () => Promise<T>) => Promise<T> {
  const starts: number[] = [];
  const next = async (): Promise<void> => {
    signal.throwIfAborted();
    const oldest = starts.length < startsPerMinute ? undefined : starts.shift();
    if (oldest !== undefined) await pauseSeconds(Math.max(0, 60 - (Date.now() - oldest) / 1000), signal);
    starts.push(Date.now());
  };
  return (work) => patiently(() => next().then(work), { signal });
}
