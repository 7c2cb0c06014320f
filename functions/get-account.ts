import { ok } from '../shared/http/answer.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { readQuery } from '../shared/http/request.ts';
import * as routes from '../shared/routes/table.ts';
import { accountStore } from '../shared/accounts/store.ts';

/** GET /account: what the account has chosen. */
export const handler = endpoint(routes.getAccount, {
  deps: ({ table }) => accountStore(table()),
  async run({ request, caller, deps: accounts }) {
    readQuery(request, []);
    return ok(await accounts.get(caller.ownerId));
  },
});
