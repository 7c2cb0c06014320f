import type { ApiKey } from './item.ts';

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
