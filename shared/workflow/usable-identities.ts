import type { IdentityList } from '../contracts/identity.ts';
import { mayUse, type License } from '../domain/license.ts';
import type { IdentityCatalog } from '../store/identity-store.ts';

/** The identities that any of these licenses covers, with or without an active model. */
export async function usableIdentities(
  licenses: readonly License[],
  catalog: IdentityCatalog,
): Promise<IdentityList> {
  const identities = await catalog.list();
  return {
    identities: identities
      .filter((identity) => licenses.some((license) => mayUse(license, identity)))
      .map(({ identityId, name, slug, description, productPhotos, model }) => ({
        id: identityId,
        name,
        slug,
        description,
        productPhotos,
        available: model !== null,
      })),
  };
}
