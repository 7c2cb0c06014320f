import { isFinal } from '../../shared/generations/generation.ts';
import { Failure } from './failure.ts';
import type { Stores } from './stores.ts';

/** Deletes requests by the same two steps as DELETE /generate/{requestId}. */
export async function requestEraser({ deletions }: Pick<Stores, 'deletions'>, bucketName: string) {
  // Imported late, because the AWS SDK takes long to load.
  const [{ beginDeletion, erase }, { allRights }, { systemClock }, { objectStore }] = await Promise.all([
    import('../../shared/generations/delete.ts'),
    import('../../shared/keys/rights.ts'),
    import('../../shared/base/clock.ts'),
    import('../../shared/images/object-store.ts'),
  ]);
  const deps = { deletions, objects: objectStore(bucketName), clock: systemClock };
  const remove = async (licenseId: string, requestId: string): Promise<void> => {
    const deletion = await beginDeletion(requestId, [licenseId], allRights, deps);
    await erase(deletion, deps).catch((cause: unknown) => {
      throw new Failure(
        `Nobody finds ${requestId} any more, but some of its images may still be there: delete it again, or leave it to the sweep.`,
        1,
        { cause },
      );
    });
  };
  return {
    remove,
    /** Deletes a request if it is there. @returns whether it is there no more: false for one that still runs. */
    async removeIfThere(licenseId: string, requestId: string): Promise<boolean> {
      const stored = await deletions.find([licenseId], requestId);
      if (stored === null || ('deletion' in stored && stored.deletion.isErased)) return true;
      if ('generation' in stored) {
        const { status, expiresAtMs } = stored.generation;
        if (expiresAtMs <= systemClock.now()) return true;
        if (!isFinal(status)) return false;
      }
      await remove(licenseId, requestId);
      return true;
    },
  };
}
