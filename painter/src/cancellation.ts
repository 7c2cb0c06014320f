import { setTimeout as wait } from 'node:timers/promises';
import { Failure } from './failure.ts';

const PAUSE_MS = 1_000;
/** An answer that takes longer is none. With the pause it is less than the two seconds in which a request stops. */
const WITHIN_MS = 900;

/**
 * Asks a request's link about once a second whether it was cancelled, and then stops it: only 200 says so. Whatever
 * goes wrong with the link says nothing. Ends once the request stops.
 */
export async function watchCancellation(
  cancelUrl: string | null | undefined,
  stop: AbortController,
): Promise<void> {
  if (typeof cancelUrl !== 'string') return;
  const { signal } = stop;
  while (!signal.aborted) {
    await wait(PAUSE_MS, undefined, { signal }).catch(() => {});
    if (await isThere(cancelUrl, signal)) stop.abort(new Failure('cancelled', 'The request was cancelled.'));
  }
}

async function isThere(url: string, signal: AbortSignal): Promise<boolean> {
  try {
    const answer = await fetch(url, {
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(WITHIN_MS)]),
    });
    await answer.body?.cancel();
    return answer.status === 200;
  } catch {
    return false;
  }
}
