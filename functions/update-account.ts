import { changeAccountBody } from '../shared/accounts/contract.ts';
import { ok } from '../shared/http/answer.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { readBody, readQuery, collectErrors } from '../shared/http/request.ts';
import * as routes from '../shared/routes/table.ts';
import { accountStore } from '../shared/accounts/store.ts';

/** PATCH /account. What is left out stays as it is. */
export const handler = endpoint(routes.updateAccount, {
  deps: ({ table }) => accountStore(table()),
  async run({ request, caller, deps: accounts, runtime }) {
    const [{ creditMails, endSessions }] = collectErrors(
      () => readBody(request, changeAccountBody),
      () => readQuery(request, []),
    );
    if (creditMails !== undefined) await accounts.set(caller.ownerId, { creditMails });
    if (endSessions) await accounts.endSessions(caller.ownerId, runtime.clock.now());
    return ok(await accounts.get(caller.ownerId));
  },
});
