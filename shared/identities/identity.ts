import { createHash } from 'node:crypto';
import type { AuditedMembers } from '../accounts/audit.ts';
import { ServiceError } from '../base/errors.ts';
import type { License } from '../licenses/license.ts';
import type { Sample } from './sample.ts';
import type { IdentityVersion } from './version.ts';

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
  /** The active version; null while it has none. */
  model: IdentityVersion | null;
  /** The number of the newest version; 0 before the first. */
  lastVersion: number;
  /** Slugs of before, which still name it. */
  formerSlugs: string[];
  /** Null unless an operator took it down. */
  withdrawn: Withdrawal | null;
}

export interface Withdrawal {
  atMs: number;
  /** For operators: callers only read that it was withdrawn. */
  reason: string;
  /** The version that was active. */
  version: number | null;
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

/** An identity as it is before anybody says more of it. */
export const plainIdentity: Omit<Identity, 'identityId' | 'name' | 'slug'> = {
  description: '',
  catalog: 'specialist',
  productPhotos: false,
  samples: [],
  model: null,
  lastVersion: 0,
  formerSlugs: [],
  withdrawn: null,
};

/** A license covers the founding catalog, or the identities that it lists, or both. */
export function mayUse(license: License, identity: Identity): boolean {
  return (
    (license.foundingCatalog && identity.catalog === 'founding') ||
    license.identityIds.includes(identity.identityId)
  );
}

/**
 * @param identity null where there is none that was named.
 * @param licenses any of which may cover it.
 * @throws IDENTITY_NOT_FOUND, IDENTITY_MISMATCH
 */
export function usableIdentity(identity: Identity | null, licenses: readonly License[]): Identity {
  if (identity === null) {
    throw new ServiceError(
      'IDENTITY_NOT_FOUND',
      ({ unknownIdentity, identityList }) =>
        `${unknownIdentity} ${identityList} lists those that you may use.`,
    );
  }
  // Before the question who may use it, so that everybody reads the same.
  if (identity.withdrawn !== null) {
    throw new ServiceError(
      'IDENTITY_NOT_FOUND',
      ({ identityList }) =>
        `${identity.name} was withdrawn, and makes no pictures any more. ${identityList} lists the identities that you may use.`,
    );
  }
  if (!licenses.some((license) => mayUse(license, identity))) {
    throw new ServiceError(
      'IDENTITY_MISMATCH',
      ({ identityList }) =>
        `This license does not cover ${identity.name}. ${identityList} lists the identities that you may use.`,
    );
  }
  return identity;
}

/** The members that may change, as the audit log compares them. Settings may be long, and may hold words for the model, so only their hash is compared. */
export function identityMembers({
  identityId: _id,
  model,
  samples,
  lastVersion,
  withdrawn,
  ...members
}: Identity): AuditedMembers {
  return {
    ...members,
    samples: samples.map(({ sampleId }) => sampleId),
    lastVersion,
    activeVersion: model?.number ?? null,
    adapterKey: model?.adapterKey ?? null,
    adapterSha256: model?.adapterSha256 ?? null,
    settingsSha256: model && createHash('sha256').update(JSON.stringify(model.settings)).digest('hex'),
    withdrawnBecause: withdrawn?.reason ?? null,
  };
}
