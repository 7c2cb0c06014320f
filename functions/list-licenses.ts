import type { LicenseList } from '../shared/licenses/contract.ts';
import { licenseAnswer } from '../shared/licenses/license.ts';
import { licenseNames } from '../shared/licenses/names.ts';
import { ok } from '../shared/http/answer.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { readQuery } from '../shared/http/request.ts';
import * as routes from '../shared/routes/table.ts';
import { licenseStore } from '../shared/licenses/store.ts';

/** GET /licenses: the account's licenses, oldest first. */
export const handler = endpoint(routes.listLicenses, {
  deps: ({ table }) => licenseStore(table()),
  async run({ request, caller, deps: licenses, runtime }) {
    readQuery(request, []);
    const owned = await licenses.listByOwner(caller.ownerId);
    const nowMs = runtime.clock.now();
    const names = licenseNames(owned);
    const list: LicenseList = {
      licenses: owned.map((license) => licenseAnswer(license, names.get(license.licenseId)!, nowMs)),
    };
    return ok(list);
  },
});
