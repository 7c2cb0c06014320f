import type { Identity } from '../../shared/identities/identity.ts';
import { identityByName } from '../../shared/identities/store.ts';
import { activeVersion, type IdentityVersion, type StoredVersion } from '../../shared/identities/version.ts';
import { Failure } from '../common/failure.ts';
import type { Session } from './command.ts';

/** By its id or a slug. @throws Failure when there is none. */
export async function getIdentity({ stores }: Pick<Session, 'stores'>, name: string): Promise<Identity> {
  const identity = await identityByName(stores.identities, name);
  if (identity === null) throw new Failure(`There is no identity ${name}.`);
  return identity;
}

/** The active one is there too where it was made before versions were. */
export async function allVersions({ stores }: Session, identity: Identity): Promise<StoredVersion[]> {
  const stored = await stores.identities.versions(identity.identityId);
  const active = activeVersion(identity);
  if (active === null || stored.some(({ number }) => number === active.number)) return stored;
  return [active, ...stored].sort((a, b) => b.number - a.number);
}

/** @throws Failure when there is none */
export async function getVersion(
  { stores }: Session,
  identity: Identity,
  number: number,
): Promise<StoredVersion> {
  const active = identity.model?.number === number ? activeVersion(identity) : null;
  const version = (await stores.identities.version(identity.identityId, number)) ?? active;
  if (version === null) throw new Failure(`${identity.name} has no version ${number}.`);
  return version;
}

/** A version as the identity has it while it is active. */
export function immutable({
  samples: _samples,
  retiresAtMs: _at,
  ...version
}: StoredVersion): IdentityVersion {
  return version;
}
