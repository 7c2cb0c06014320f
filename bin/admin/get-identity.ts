import type { Identity } from '../../shared/identities/identity.ts';
import { identityByName } from '../../shared/identities/store.ts';
import { Failure } from '../common/failure.ts';
import type { Session } from './command.ts';

/** By its id or a slug. @throws Failure when there is none. */
export async function getIdentity({ stores }: Pick<Session, 'stores'>, name: string): Promise<Identity> {
  const identity = await identityByName(stores.identities, name);
  if (identity === null) throw new Failure(`There is no identity ${name}.`);
  return identity;
}
