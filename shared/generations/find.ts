import { covers, type RequestRights } from '../keys/rights.ts';
import type { Generation } from './generation.ts';
import { readRequestId } from '../base/ids.ts';
import { ServiceError } from '../base/errors.ts';

/**
 * A stored request of the caller's.
 * @param sent its id, as the caller sent it
 * @param find looks among the requests of the caller's licenses only, so another license's is not found.
 * @throws REQUEST_NOT_FOUND also for what is no id, and for a request that is no longer kept.
 */
export async function findGeneration(
  sent: string,
  find: (requestId: string) => Promise<Generation | null>,
  { reads }: RequestRights,
  nowMs: number,
): Promise<Generation> {
  const requestId = readRequestId(sent);
  const generation = requestId === null ? null : await find(requestId);
  if (generation === null || !covers(reads, generation) || generation.expiresAtMs <= nowMs) {
    throw requestNotFound();
  }
  return generation;
}

/** One text for a request that never was, is another's, or was deleted: a caller learns nothing about it. */
export function requestNotFound(): ServiceError {
  return new ServiceError('REQUEST_NOT_FOUND', 'No stored request has this ID.');
}
