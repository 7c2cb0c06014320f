import type { ObjectStore, RequestRef } from '../images/object-store.ts';
import type { Clock } from '../base/clock.ts';

export interface DiscardDeps {
  objects: Pick<ObjectStore, 'deleteReferences'>;
  clock: Clock;
  /** Logs a cause that no caller may see. */
  logFault(requestId: string, what: string, error: unknown): void;
}

/** Nobody waits longer for it. The bucket removes what is left after a day. */
const discardWithinMs = 2000;

/**
 * Deletes the copies of a request's reference images, once nobody needs them. Awaited before an answer, because Lambda
 * freezes a function after it. It never fails: an answer is as true without it.
 * @param count how many the request named, stored or not.
 */
export async function discardReferences(
  of: RequestRef,
  count: number,
  { objects, clock, logFault }: DiscardDeps,
): Promise<void> {
  if (count === 0) return;
  try {
    await objects.deleteReferences(of, count, clock.timeout(discardWithinMs));
  } catch (error) {
    logFault(of.requestId, 'references not deleted', error);
  }
}
