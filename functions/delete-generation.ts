import { objectStore } from '../shared/images/object-store.ts';
import type { DeletedGeneration } from '../shared/generations/answer-contract.ts';
import { ok } from '../shared/http/answer.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { readQuery } from '../shared/http/request.ts';
import * as routes from '../shared/routes/table.ts';
import { deletionStore } from '../shared/generations/deletion-store.ts';
import { licenseStore } from '../shared/licenses/store.ts';
import { beginDeletion, erase } from '../shared/generations/delete.ts';

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
    const { requestId: sent = '' } = request.pathParameters;
    const deletion = await beginDeletion(sent, licenseIds, caller.rights, deps);
    const { requestId } = deletion;
    request.logFields.deletedRequestId = requestId;
    await erase(deletion, deps);
    const answer: DeletedGeneration = { requestId, deleted: true };
    return ok(answer);
  },
});
