import type { ActivityList } from '../shared/licenses/activity-contract.ts';
import { activityItem, isForOwner } from '../shared/licenses/activity.ts';
import { ok } from '../shared/http/answer.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { ownedLicense } from '../shared/http/owned-license.ts';
import { readCursor, readLimit, writeCursor } from '../shared/http/paging.ts';
import { readQuery } from '../shared/http/request.ts';
import * as routes from '../shared/routes/table.ts';
import { auditStore } from '../shared/accounts/audit-store.ts';
import { licenseStore } from '../shared/licenses/store.ts';

/** GET /licenses/{licenseId}/activity: who changed the license and its keys, newest first. */
export const handler = endpoint(routes.listActivity, {
  deps: ({ table }) => ({ audit: auditStore(table()), licenses: licenseStore(table()) }),
  async run({ request, caller, deps }) {
    const query = readQuery(request, ['limit', 'cursor']);
    const limit = readLimit(query.limit);
    const before = readCursor(query.cursor);
    const { licenseId } = await ownedLicense(deps.licenses, caller.ownerId, request.pathParameters.licenseId);
    const { entries, next } = await deps.audit.listPage({ licenseId }, limit, before);
    const list: ActivityList = {
      activity: entries.filter(isForOwner).map(activityItem),
      nextCursor: next === null ? null : writeCursor(next),
    };
    return ok(list);
  },
});
