import type { ObjectStore } from '../images/object-store.ts';
import type { Clock } from '../base/clock.ts';
import { newDeletion, type Deletion } from './deletion.ts';
import { isFinal, type Generation } from './generation.ts';
import { readRequestId } from '../base/ids.ts';
import { ServiceError, serviceBusy } from '../base/errors.ts';
import type { DeletionStore } from './deletion-store.ts';
import type { DiscardDeps } from '../references/discard-references.ts';
import { covers, type RequestRights } from '../keys/rights.ts';
import { requestNotFound } from './find.ts';

export interface DeletionDeps {
  deletions: DeletionStore;
  objects: Pick<ObjectStore, 'deleteImages'>;
  clock: Clock;
}

export interface BeginDeps extends DeletionDeps {
  objects: Pick<ObjectStore, 'deleteImages' | 'putTombstone'>;
}

/** A handler that has not come to its end after this is taken for dead. */
const leaseSeconds = 60;
/** Together less than the 20 seconds that a function has. */
const tombstoneWithinMs = 4_000;
const eraseWithinMs = 12_000;

/**
 * Takes a request that has ended out of every list. Nobody finds it after this, and `erase` deletes its images. Where that
 * fails, the same two calls go on with it, or the sweep does. Before all that a tombstone is put into the bucket.
 * @param sent its id, as the caller sent it
 * @param licenseIds the caller's own licenses, so that another license's request is not found.
 * @throws REQUEST_NOT_FOUND, also after it was deleted; REQUEST_IN_PROGRESS; SERVICE_UNAVAILABLE when the bucket takes no
 * tombstone: then nothing was deleted.
 */
export async function beginDeletion(
  sent: string,
  licenseIds: string[],
  rights: RequestRights,
  deps: BeginDeps,
): Promise<Deletion> {
  const requestId = readRequestId(sent);
  const found = requestId === null ? null : await deps.deletions.find(licenseIds, requestId);
  if (found === null) throw requestNotFound();
  if ('deletion' in found) return unfinished(found.deletion, rights);
  if (!covers(rights.reads, found.generation)) throw requestNotFound();
  return begin(found.generation, rights, deps);
}

function unfinished(deletion: Deletion, { deletes }: RequestRights): Deletion {
  if (deletion.isErased || !covers(deletes, deletion)) throw requestNotFound();
  return deletion;
}

async function begin(
  generation: Generation,
  { deletes }: RequestRights,
  { deletions, objects, clock }: BeginDeps,
): Promise<Deletion> {
  const nowMs = clock.now();
  if (generation.expiresAtMs <= nowMs) throw requestNotFound();
  if (!covers(deletes, generation)) {
    const sentence = 'This key has a budget of its own, so it deletes only requests that it made.';
    throw new ServiceError('REQUEST_NOT_FOUND', sentence);
  }
  if (!isFinal(generation.status)) {
    throw new ServiceError(
      'REQUEST_IN_PROGRESS',
      'This request is still running. Delete it once it has ended.',
    );
  }
  const deletion = newDeletion(generation);
  // First, so that no crash leaves a deletion that a restored table would not hear of.
  await objects.putTombstone(deletion, clock.timeout(tombstoneWithinMs)).catch((cause: unknown) => {
    throw serviceBusy(cause);
  });
  // Where another call has begun it, this one does the same beside it.
  await deletions.begin(deletion, nowMs + leaseSeconds * 1000);
  return deletion;
}

/**
 * Deletes the images of a request whose deletion has begun, and forgets it once none can come any more.
 * @returns whether it is forgotten.
 * @throws SERVICE_UNAVAILABLE when something may still be there: another try goes on.
 */
export async function erase(
  deletion: Deletion,
  { deletions, objects, clock }: DeletionDeps,
): Promise<boolean> {
  // Read before: what comes while the objects are deleted may be missed.
  const isOver = clock.now() >= deletion.imagesUntilMs;
  await objects.deleteImages(deletion, clock.timeout(eraseWithinMs)).catch((cause: unknown) => {
    throw serviceBusy(cause);
  });
  await (isOver ? deletions.remove(deletion) : deletions.noteErased(deletion));
  return isOver;
}

const pageSize = 50;

/** Goes on with every deletion whose lease ran out: its handler died, or the last image of its request may have come since. */
export async function sweepDeletions(
  leasesBeforeMs: number,
  deps: DeletionDeps & Pick<DiscardDeps, 'logFault'>,
  result: { erased: number; failed: number },
): Promise<void> {
  for (;;) {
    const due = await deps.deletions.listDue(leasesBeforeMs, pageSize);
    const erasedBefore = result.erased;
    await Promise.all(
      due.map(async (ref) => {
        try {
          const deletion = await deps.deletions.get(ref);
          if (deletion !== null && (await erase(deletion, deps))) result.erased += 1;
        } catch (error) {
          result.failed += 1;
          deps.logFault(ref.requestId, 'a deleted request was not erased', error);
        }
      }),
    );
    // The index is eventually consistent: after a page that ended nothing, the same page would come again.
    if (due.length < pageSize || result.erased === erasedBefore) return;
  }
}
