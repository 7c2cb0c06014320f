import type { Identity, IdentityModel } from '../../shared/identities/identity.ts';
import { newId } from '../../shared/base/ids.ts';
import { Failure, usageFailure } from '../common/failure.ts';

/** The options of `identity put`, as the parser leaves them. */
export interface IdentityOptions {
  id?: string;
  name?: string;
  slug?: string;
  description?: string;
  catalog?: Identity['catalog'];
  productPhotos?: boolean;
  modelVersion?: string;
  /** False: none. */
  adapterKey?: string | false;
  adapterSha256?: string;
  settings?: Record<string, unknown>;
  /** False: no active model. True by default. */
  model: boolean;
  trigger?: string[];
  rights?: string;
  source?: string;
}

const firstModel: IdentityModel = { version: '1', adapterKey: null, adapterSha256: null, settings: {} };

/** @throws Failure naming the options that a new identity lacks. */
export function newIdentity(options: IdentityOptions): Identity {
  const { name, slug, description, catalog } = options;
  if (name === undefined || slug === undefined || description === undefined || catalog === undefined) {
    const missing = Object.entries({ name, slug, description, catalog })
      .filter(([, value]) => value === undefined)
      .map(([option]) => `--${option}`);
    const needs = `needs ${missing.join(', ')}.`;
    if (options.id === undefined) throw usageFailure(`A new identity ${needs}`);
    throw new Failure(`There is no identity ${options.id}, and a new one ${needs}`);
  }
  return {
    identityId: options.id ?? newId('identity'),
    name,
    slug,
    description,
    catalog,
    productPhotos: options.productPhotos ?? false,
    samples: [],
    model: options.model ? checkedModel({ ...firstModel, ...givenModel(options) }) : null,
    ...givenWords(options),
  };
}

/** @throws Failure when only a part of a model is given for an identity without one. */
export function changedIdentity(before: Identity, options: IdentityOptions): Identity {
  return {
    ...before,
    name: options.name ?? before.name,
    slug: options.slug ?? before.slug,
    description: options.description ?? before.description,
    catalog: options.catalog ?? before.catalog,
    productPhotos: options.productPhotos ?? before.productPhotos,
    model: options.model ? changedModel(before, givenModel(options)) : null,
  };
}

function changedModel({ identityId, model }: Identity, given: Partial<IdentityModel>): IdentityModel | null {
  if (Object.keys(given).length === 0) return model;
  if (model === null && given.version === undefined) {
    throw usageFailure(`The identity ${identityId} has no active model: give --model-version too.`);
  }
  return checkedModel({ ...firstModel, ...model, ...given });
}

function checkedModel(model: IdentityModel): IdentityModel {
  if (model.adapterSha256 === null || model.adapterKey !== null) return model;
  throw usageFailure('--adapter-sha256 is of an adapter: give --adapter-key too.');
}

function givenModel(options: IdentityOptions): Partial<IdentityModel> {
  const { modelVersion, adapterKey, adapterSha256, settings } = options;
  return {
    ...(modelVersion === undefined ? {} : { version: modelVersion }),
    // Another adapter is another file, so the old digest does not hold for it.
    ...(adapterKey === undefined
      ? {}
      : { adapterKey: adapterKey === false ? null : adapterKey, adapterSha256: null }),
    ...(adapterSha256 === undefined ? {} : { adapterSha256 }),
    ...(settings === undefined ? {} : { settings }),
  };
}

function givenWords({ trigger, rights, source }: IdentityOptions): Partial<Identity> {
  return {
    ...(trigger === undefined ? {} : { triggerWords: trigger }),
    ...(rights === undefined ? {} : { rights }),
    ...(source === undefined ? {} : { source }),
  };
}

/** What the callers of an identity lose by a change; empty when they lose nothing. */
export function identityLosses(before: Identity, after: Identity): string[] {
  const losses: string[] = [];
  if (before.model !== null && after.model === null) {
    losses.push(`requests for ${before.name} are answered 503 until it has a model again`);
  }
  if (before.catalog === 'founding' && after.catalog === 'specialist') {
    losses.push(`core plans lose ${before.name}: only licenses that list it may use it`);
  }
  if (before.productPhotos && !after.productPhotos) {
    losses.push(`requests to ${before.name} with reference images are refused`);
  }
  return losses;
}
