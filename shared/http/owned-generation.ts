import type { Clock } from '../base/clock.ts';
import { findGeneration } from '../generations/find.ts';
import type { Generation } from '../generations/generation.ts';
import type { GenerationStore } from '../generations/store.ts';
import type { LicenseStore } from '../licenses/store.ts';
import type { Caller } from './callers.ts';
import type { ApiRequest } from './request.ts';

interface CallersDeps {
  generations: GenerationStore;
  licenses: LicenseStore;
  clock: Clock;
}

/**
 * The stored request that a path names. Looks among the caller's own requests only, so another caller's is not found.
 * @throws REQUEST_NOT_FOUND
 */
export function callersGeneration(
  { pathParameters }: ApiRequest,
  caller: Caller,
  { generations, licenses, clock }: CallersDeps,
): Promise<Generation> {
  const find = async (requestId: string) => {
    if (caller.kind === 'key') return generations.get(caller.licenseId, requestId);
    const owned = await licenses.listByOwner(caller.ownerId);
    return generations.find(
      owned.map(({ licenseId }) => licenseId),
      requestId,
    );
  };
  return findGeneration(pathParameters.requestId ?? '', find, caller.rights, clock.now());
}
