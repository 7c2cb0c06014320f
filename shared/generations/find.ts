import type { ApiKey } from '../keys/store.ts';
import type { Generation } from './generation.ts';
import { readRequestId } from '../base/ids.ts';
import { ServiceError } from '../base/errors.ts';

/** What somebody may do with the stored requests of their licenses: null for all of them, or the one key whose own they are. */
export interface RequestRights {
  reads: string | null;
  deletes: string | null;
}

export const allRights: RequestRights = { reads: null, deletes: null };

/** A key with a budget was given a part of its license: what others paid for is not its to delete. */
export function rightsOfKey({ keyId, access, monthlyCredits }: ApiKey): RequestRights {
  const reads = access === 'own' ? keyId : null;
  return { reads, deletes: monthlyCredits === null ? reads : keyId };
}

/** Whether a right covers what a key, or an account in the playground, made. */
export function covers(right: string | null, { keyId }: { keyId: string }): boolean {
  return right === null || right === keyId;
}

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
