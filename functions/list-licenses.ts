import type { LicenseList } from '../shared/contracts/license.ts';
import { licenseAnswer } from '../shared/domain/license.ts';
import { licenseNames } from '../shared/domain/license-names.ts';
import { ok } from '../shared/http/answer.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { readQuery } from '../shared/http/request.ts';
import * as routes from '../shared/route-table.ts';
import { licenseStore } from '../shared/store/license-store.ts';

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
