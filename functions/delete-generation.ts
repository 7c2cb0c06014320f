import { objectStore } from '../shared/adapters/object-store.ts';
import type { DeletedGeneration } from '../shared/contracts/generation-answers.ts';
import { ok } from '../shared/http/answer.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { readQuery } from '../shared/http/request.ts';
import * as routes from '../shared/route-table.ts';
import { deletionStore } from '../shared/store/deletion-store.ts';
import { licenseStore } from '../shared/store/license-store.ts';
import { beginDeletion, erase } from '../shared/workflow/delete-generation.ts';

/** DELETE /generate/{requestId}. Once this has answered, nothing is stored of what was asked for or made. */
export const handler = endpoint(routes.deleteGeneration, {
  deps: ({ env, table, clock }) => ({
    deletions: deletionStore(table()),
    licenses: licenseStore(table()),
    objects: objectStore(env.bucketName),
    clock,
  }),
  async run({ request, caller, deps }) {
    readQuery(request, []);
    const licenseIds =
      caller.kind === 'key'
        ? [caller.licenseId]
        : (await deps.licenses.listByOwner(caller.ownerId)).map(({ licenseId }) => licenseId);
    const deletion = await beginDeletion(request.pathParameters.requestId ?? '', licenseIds, deps);
    const { requestId } = deletion;
    // Whoever restores a backup finds here what must go again.
    request.logFields.deletedRequestId = requestId;
    await erase(deletion, deps);
    const answer: DeletedGeneration = { requestId, deleted: true };
    return ok(answer);
  },
});
