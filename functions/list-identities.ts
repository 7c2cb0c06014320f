import type { IdentityList } from '../shared/contracts/identity.ts';
import { mayUse } from '../shared/domain/license.ts';
import { ok } from '../shared/http/answer.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { readQuery } from '../shared/http/request.ts';
import { routes } from '../shared/routes.ts';
import { identityStore } from '../shared/store/identity-store.ts';

/** GET /identities: those that this caller may use. */
export const handler = endpoint(routes.listIdentities, {
  deps: ({ table }) => ({ identities: identityStore(table()) }),
  load: ({ deps }) => deps.identities.list(),
  async run({ request, caller, loaded }) {
    readQuery(request, []);
    const list: IdentityList = {
      identities: loaded
        .filter((identity) => mayUse(caller.license, identity))
        .map(({ identityId, name, slug, description, productPhotos, model }) => ({
          id: identityId,
          name,
          slug,
          description,
          productPhotos,
          available: model !== null,
        })),
    };
    return ok(list);
  },
});
