import { createHash } from 'node:crypto';
import type { AuditedMembers } from '../accounts/audit.ts';
import { ServiceError } from '../base/errors.ts';
import type { License } from '../licenses/license.ts';
import type { Sample } from './sample.ts';

/** A creator system. Its model never leaves the service: callers see only what `IdentityAnswer` shows. */
export interface Identity {
  identityId: string;
  name: string;
  slug: string;
  description: string;
  /** Founding identities come with every core plan; specialist ones are granted one by one. */
  catalog: 'founding' | 'specialist';
  productPhotos: boolean;
  /** In the order in which they are shown. */
  samples: Sample[];
  /** Null while the identity has no active model. */
  model: IdentityModel | null;
  /** Words that call up what its adapter has learnt; none where it is absent. */
  triggerWords?: string[];
  /** The licence under which the service may use its adapter, and where that is from; absent where nobody said. */
  rights?: string;
  source?: string;
}

/** The most characters of an identity's texts, and the most words. */
export const identityLimits = {
  name: 100,
  description: 500,
  triggerWord: 100,
  triggerWords: 20,
  rights: 200,
  source: 500,
};

export interface IdentityModel {
  version: string;
  /** Key of its adapter weights in the bucket, null when the base model needs none. */
  adapterKey: string | null;
  /** SHA-256 of that file in lower-case hex, which the container checks; null when it was not given. */
  adapterSha256: string | null;
  /** Passed to the model container as they are. */
  settings: Record<string, unknown>;
}

/** A license covers the founding catalog, or the identities that it lists, or both. */
export function mayUse(license: License, identity: Identity): boolean {
  return (
    (license.foundingCatalog && identity.catalog === 'founding') ||
    license.identityIds.includes(identity.identityId)
  );
}

/**
 * @param identity null where there is none that was named.
 * @throws IDENTITY_NOT_FOUND, IDENTITY_MISMATCH
 */
export function usableIdentity(identity: Identity | null, license: License): Identity {
  if (identity === null) {
    throw new ServiceError(
      'IDENTITY_NOT_FOUND',
      ({ unknownIdentity, identityList }) =>
        `${unknownIdentity} ${identityList} lists those that you may use.`,
    );
  }
  if (!mayUse(license, identity)) {
    throw new ServiceError(
      'IDENTITY_MISMATCH',
      ({ identityList }) =>
        `This license does not cover ${identity.name}. ${identityList} lists the identities that you may use.`,
    );
  }
  return identity;
}

/** The members that may change, as the audit log compares them. Settings may be long, and may hold words for the model, so only their hash is compared. */
export function identityMembers({ identityId: _id, model, samples, ...members }: Identity): AuditedMembers {
  return {
    ...members,
    samples: samples.map(({ sampleId }) => sampleId),
    modelVersion: model?.version ?? null,
    adapterKey: model?.adapterKey ?? null,
    adapterSha256: model?.adapterSha256 ?? null,
    settingsSha256: model && createHash('sha256').update(JSON.stringify(model.settings)).digest('hex'),
  };
}
