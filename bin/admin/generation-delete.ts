import type { Command } from 'commander';
import { Failure, usageFailure } from '../common/failure.ts';
import type { Answer } from '../common/output.ts';
import type { Stores } from '../common/stores.ts';
import { id, requestId as requestIdValue } from '../common/values.ts';
import { answer, withYes, type Session } from './command.ts';
import { missingRequest } from './generation-output.ts';

export function addGenerationDelete(generation: Command): void {
  const command = generation
    .command('delete')
    .description(
      'erase a stored request with its images and its prompt, as its owner could; credits stay used',
    )
    .argument('<license>', 'the id of its license', id('LICENSE'))
    .argument('<request>', 'its request id, as in X-Request-Id', requestIdValue('REQUEST'))
    .action((licenseId: string, requestId: string, _, self: Command) =>
      answer(self, (session) => remove(session, licenseId, requestId)),
    );
  withYes(command, 'it is deleted');
}

async function remove(session: Session, licenseId: string, requestId: string): Promise<Answer> {
  const { bucketName, stores, confirm } = session;
  if (bucketName === null) {
    throw usageFailure('Images lie in the bucket of a stack: name the stack with --stack.');
  }
  const stored = await stores.deletions.find([licenseId], requestId);
  if (stored === null || ('deletion' in stored && stored.deletion.isErased)) {
    throw await missingRequest(session, licenseId, requestId);
  }
  await confirm({
    what: `delete the request ${requestId}`,
    losses: ['Its owner loses its images, its prompt and its place in the history, for good.'],
  });
  await eraseRequest(stores, bucketName, licenseId, requestId);
  return {
    json: { requestId, deleted: true },
    text: `Deleted ${requestId}: its images and its prompt are gone.`,
  };
}

/** By the same two steps as DELETE /generate/{requestId}. */
async function eraseRequest(
  { deletions }: Stores,
  bucketName: string,
  licenseId: string,
  requestId: string,
): Promise<void> {
  const [{ beginDeletion, erase }, { systemClock }, { objectStore }] = await Promise.all([
    import('../../shared/generations/delete.ts'),
    import('../../shared/base/clock.ts'),
    import('../../shared/images/object-store.ts'),
  ]);
  const deps = { deletions, objects: objectStore(bucketName), clock: systemClock };
  const deletion = await beginDeletion(requestId, [licenseId], deps);
  await erase(deletion, deps).catch((cause: unknown) => {
    throw new Failure(
      `Nobody finds ${requestId} any more, but some of its images may still be there: delete it again, or leave it to the sweep.`,
      1,
      { cause },
    );
  });
}
