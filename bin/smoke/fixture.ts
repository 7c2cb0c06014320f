import { randomBytes } from 'node:crypto';
import type { Identity } from '../../shared/identities/identity.ts';
import { newId } from '../../shared/base/ids.ts';
import type { License } from '../../shared/licenses/license.ts';
import { issueApiKey } from '../../shared/keys/manage.ts';
import { Failure } from '../common/failure.ts';
import type { Stores } from '../common/stores.ts';

/** What the checks use. All of it is removed afterwards, except an identity that existed before. */
export interface SmokeFixture {
  identity: Identity;
  /** Whether the identity was made for this run. */
  ownsIdentity: boolean;
  license: License;
}

export type IssuedKey = Awaited<ReturnType<typeof issueApiKey>>;

/** Chooses all ids before anything is made, so that everything can be found and removed. @throws Failure */
export async function planFixture(stores: Stores, identityId: string | undefined): Promise<SmokeFixture> {
  const name = `smoke-${randomBytes(8).toString('hex')}`;
  const ownsIdentity = identityId === undefined;
  const identity = ownsIdentity ? temporaryIdentity(name) : await activeIdentity(stores, identityId);
  const nowMs = Date.now();
  const license: License = {
    licenseId: newId('license'),
    ownerId: name,
    givenName: null,
    planName: null,
    tier: 'starter',
    // More than the checks may spend, and few.
    creditsLimit: 5,
    foundingCatalog: false,
    identityIds: [identity.identityId],
    apiAccess: true,
    status: 'active',
    graceUntilMs: null,
    periodAnchorMs: nowMs,
    carried: null,
    activeUntilMs: null,
    maxInFlight: null,
    createdAtMs: nowMs,
  };
  return { identity, ownsIdentity, license };
}

/** Of the specialist catalog: no license but the temporary one lists it, so nobody else ever sees it. */
function temporaryIdentity(name: string): Identity {
  return {
    identityId: newId('identity'),
    name,
    slug: name,
    description: 'Checks a deployment and is removed afterwards.',
    catalog: 'specialist',
    productPhotos: true,
    samples: [],
    model: { version: '1', adapterKey: null, adapterSha256: null, settings: {} },
  };
}

async function activeIdentity({ identities }: Stores, identityId: string): Promise<Identity> {
  const identity = await identities.get(identityId);
  if (identity === null) throw new Failure(`There is no identity ${identityId}.`);
  if (identity.model === null) throw new Failure(`The identity ${identityId} has no active model.`);
  return identity;
}

export async function makeFixture(stores: Stores, fixture: SmokeFixture): Promise<IssuedKey> {
  const { identity, ownsIdentity, license } = fixture;
  const nowMs = Date.now();
  if (ownsIdentity) await stores.identities.put(identity, 'operator:smoke test');
  await stores.licenses.insert(license, 'operator:smoke test');
  const order = { license, name: 'smoke', expiresAtMs: nowMs + 3600 * 1000, monthlyCredits: null };
  return issueApiKey(order, stores.apiKeys, nowMs);
}
