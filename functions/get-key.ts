import { ok } from '../shared/http/answer.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { readQuery } from '../shared/http/request.ts';
import { identityCatalog, identityStore } from '../shared/identities/store.ts';
import { usableIdentities } from '../shared/identities/usable.ts';
import { keyAllowance, readKeyUse } from '../shared/keys/allowance.ts';
import { creditPeriod } from '../shared/licenses/credit-period.ts';
import { licenseNames } from '../shared/licenses/names.ts';
import { licenseStore } from '../shared/licenses/store.ts';
import * as routes from '../shared/routes/table.ts';

/** GET /key: what the key that asks may still do. */
export const handler = endpoint(routes.getKey, {
  deps: ({ table, clock }) => ({
    licenses: licenseStore(table()),
    identities: identityCatalog(identityStore(table()), clock),
    table: table(),
  }),
  async run({ request, caller: { key, license }, deps, runtime }) {
    readQuery(request, []);
    const nowMs = runtime.clock.now();
    const period = creditPeriod(license, nowMs);
    const [use, identities, owned] = await Promise.all([
      readKeyUse(deps.table, key.keyId, license, period.startMs, nowMs),
      usableIdentities([license], deps.identities),
      deps.licenses.listByOwner(license.ownerId),
    ]);
    // The list of licenses may lag behind, and what the key is for must have a name.
    const names = new Map([...licenseNames([license]), ...licenseNames(owned)]);
    const licenseName = names.get(license.licenseId)!;
    return ok(keyAllowance(key, { license, licenseName, period, identities }, use, nowMs));
  },
});
