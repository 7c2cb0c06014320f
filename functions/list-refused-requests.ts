import { playgroundCaller } from '../shared/generations/contract.ts';
import type { RefusedRequestList } from '../shared/limits/contract.ts';
import { isoTime } from '../shared/base/clock.ts';
import { readRequestId } from '../shared/base/ids.ts';
import { ServiceError } from '../shared/base/errors.ts';
import { ok } from '../shared/http/answer.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { ownedLicense } from '../shared/http/owned-license.ts';
import { readQuery } from '../shared/http/request.ts';
import * as routes from '../shared/routes/table.ts';
import { licenseStore } from '../shared/licenses/store.ts';
import { listRefused } from '../shared/limits/refusal-store.ts';
import type { RefusedRequest } from '../shared/limits/refusals.ts';

/** GET /licenses/{licenseId}/refused-requests: the newest requests of its keys and its playground that were refused, and why. */
export const handler = endpoint(routes.listRefusedRequests, {
  deps: ({ table }) => ({ table: table(), licenses: licenseStore(table()) }),
  async run({ request, caller, deps, runtime }) {
    const requestId = readSearched(readQuery(request, ['requestId']).requestId);
    const { licenseId } = await ownedLicense(deps.licenses, caller.ownerId, request.pathParameters.licenseId);
    const refused = await listRefused(deps.table, licenseId, runtime.clock.now(), requestId);
    const list: RefusedRequestList = { requests: refused.map(toAnswer) };
    return ok(list);
  },
});

/** @throws INVALID_PARAMETERS for what can be no request's id. */
function readSearched(sent: string | undefined): string | undefined {
  if (sent === undefined) return undefined;
  const requestId = readRequestId(sent);
  if (requestId === null) {
    throw new ServiceError('INVALID_PARAMETERS', 'requestId must be the X-Request-Id of an answer.');
  }
  return requestId;
}

function toAnswer({ atMs, caller, ...refused }: RefusedRequest): RefusedRequestList['requests'][number] {
  return { ...refused, at: isoTime(atMs), keyId: caller === playgroundCaller ? null : caller };
}
