import { activeVersion, noRights, plainVersion, templateProblem } from '../../shared/identities/version.ts';
import type { IdentityVersion, VersionRights, VersionWords } from '../../shared/identities/version.ts';
import { plainIdentity, type Identity } from '../../shared/identities/identity.ts';
import type { IdentityChange } from '../../shared/identities/store.ts';
import { newId } from '../../shared/base/ids.ts';
import { Failure, usageFailure } from '../common/failure.ts';

/** The options of `identity put` that make another version, as the parser leaves them. */
export interface VersionOptions {
  note?: string;
  /** False: none. */
  adapterKey?: string | false;
  adapterSha256?: string;
  /** Of a file that was read. */
  baseModel?: string;
  settings?: Record<string, unknown>;
  /** False: none. */
  trigger?: string[] | false;
  showTriggers?: boolean;
  template?: string | false;
  negativePrompt?: string | false;
  size?: { width: number; height: number } | false;
}

/** Those of the right to make pictures with it. */
export interface RightsOptions {
  rights?: string;
  source?: string;
  consentSha256?: string;
  consentDate?: string;
}

/** The options of `identity put`, as the parser leaves them. */
export interface IdentityOptions extends VersionOptions, RightsOptions {
  id?: string;
  name?: string;
  slug?: string;
  description?: string;
  catalog?: Identity['catalog'];
  productPhotos?: boolean;
  /** False: no active version. True by default. */
  model: boolean;
}

/** @throws Failure naming the options that a new identity lacks. */
export function newIdentity(options: IdentityOptions, nowMs: number): IdentityChange {
  const { name, slug, description, catalog } = options;
  if (name === undefined || slug === undefined || description === undefined || catalog === undefined) {
    const missing = Object.entries({ name, slug, description, catalog })
      .filter(([, value]) => value === undefined)
      .map(([option]) => `--${option}`);
    const needs = `needs ${missing.join(', ')}.`;
    if (options.id === undefined) throw usageFailure(`A new identity ${needs}`);
    throw new Failure(`There is no identity ${options.id}, and a new one ${needs}`);
  }
  const productPhotos = options.productPhotos ?? false;
  const facts = { name, slug, description, catalog, productPhotos };
  const identity = { ...plainIdentity, ...facts, identityId: options.id ?? newId('identity') };
  return options.model ? withNewVersion(identity, options, nowMs) : { identity };
}

/** What is not given stays as it is. What would change a picture makes another version, which is active at once. */
export function changedIdentity(before: Identity, options: IdentityOptions, nowMs: number): IdentityChange {
  const slug = options.slug ?? before.slug;
  const former = [...before.formerSlugs, before.slug].filter((one) => one !== slug);
  const identity: Identity = {
    ...before,
    name: options.name ?? before.name,
    slug,
    formerSlugs: [...new Set(former)],
    description: options.description ?? before.description,
    catalog: options.catalog ?? before.catalog,
    productPhotos: options.productPhotos ?? before.productPhotos,
    model: options.model ? before.model : null,
  };
  if (!makesVersion(options)) {
    if (namesRights(options))
      throw usageFailure(
        `No version is made by that: say it with "identity rights ${slug} ${before.model?.number ?? 'VERSION'}".`,
      );
    return { identity };
  }
  if (before.model === null && before.lastVersion > 0 && options.adapterKey === undefined) {
    throw usageFailure(`${before.name} has no active version to make the next one of: activate one first.`);
  }
  return withNewVersion(identity, options, nowMs);
}

function makesVersion(options: VersionOptions): boolean {
  const { note, adapterKey, adapterSha256, settings, trigger, showTriggers, template, negativePrompt, size } =
    options;
  const given = [
    note,
    adapterKey,
    adapterSha256,
    settings,
    trigger,
    showTriggers,
    template,
    negativePrompt,
    size,
  ];
  return given.some((value) => value !== undefined);
}

export function namesRights({ rights, source, consentSha256, consentDate }: RightsOptions): boolean {
  return [rights, source, consentSha256, consentDate].some((value) => value !== undefined);
}

function withNewVersion(before: Identity, options: IdentityOptions, nowMs: number): IdentityChange {
  const changed = changedModel(before.model ?? plainVersion, options);
  // What is known of an adapter is not known of another.
  const known = changed.adapterKey === before.model?.adapterKey ? before.model.rights : noRights;
  const model: IdentityVersion = {
    ...changed,
    rights: changedRights(known, options, nowMs),
    number: before.lastVersion + 1,
    createdAtMs: nowMs,
    note: options.note ?? null,
  };
  // The first version gets the samples that were there before it. Others begin without: they made none of the pictures.
  const samples = before.lastVersion === 0 ? before.samples : [];
  const identity = { ...before, model, samples, lastVersion: model.number };
  return { identity, versions: [activeVersion(identity)!] };
}

/** It is tomorrow so much earlier somewhere. */
const furthestZoneMs = 14 * 3600_000;

/** What is not given stays as it is. */
export function changedRights(rights: VersionRights, options: RightsOptions, nowMs: number): VersionRights {
  const { rights: license = rights.license, source = rights.source, consentSha256, consentDate } = options;
  if (consentDate !== undefined && Date.parse(consentDate) > nowMs + furthestZoneMs) {
    throw usageFailure('--consent-date must not be after today.');
  }
  if ((consentSha256 === undefined) !== (consentDate === undefined)) {
    throw usageFailure('--consent-sha256 and --consent-date belong together: give both.');
  }
  const consent =
    consentSha256 === undefined ? rights.consent : { sha256: consentSha256, date: consentDate! };
  return { license, source, consent };
}

function changedModel(model: IdentityVersion, options: VersionOptions): IdentityVersion {
  const { adapterKey, adapterSha256, settings = model.settings } = options;
  // Another adapter is another file, so the old digest does not hold for it.
  const adapter =
    adapterKey === undefined
      ? { ...model, adapterSha256: adapterSha256 ?? model.adapterSha256 }
      : {
          ...model,
          adapterKey: adapterKey || null,
          adapterSha256: adapterSha256 ?? null,
          baseModel: options.baseModel ?? null,
        };
  if (adapter.adapterSha256 !== null && adapter.adapterKey === null) {
    throw usageFailure('--adapter-sha256 is of an adapter: give --adapter-key too.');
  }
  return { ...adapter, settings, words: changedWords(model.words, options) };
}

function changedWords(words: VersionWords, options: VersionOptions): VersionWords {
  const { trigger, showTriggers = words.showsTriggerWords, template, negativePrompt, size } = options;
  const problem = typeof template === 'string' ? templateProblem(template) : null;
  if (problem !== null) throw usageFailure(`--template ${problem}.`);
  return {
    triggerWords: trigger === undefined ? words.triggerWords : trigger || [],
    showsTriggerWords: showTriggers,
    promptTemplate: template === undefined ? words.promptTemplate : template || null,
    negativePrompt: negativePrompt === undefined ? words.negativePrompt : negativePrompt || null,
    sizePx: size === undefined ? words.sizePx : size || null,
  };
}

/** What the callers of an identity lose by a change; empty when they lose nothing. */
export function identityLosses(before: Identity, after: Identity): string[] {
  const losses: string[] = [];
  if (before.model !== null && after.model === null) {
    losses.push(`requests for ${before.name} are answered 503 until it has an active version again`);
  }
  if (before.catalog === 'founding' && after.catalog === 'specialist') {
    losses.push(`core plans lose ${before.name}: only licenses that list it may use it`);
  }
  if (before.productPhotos && !after.productPhotos) {
    losses.push(`requests to ${before.name} with reference images are refused`);
  }
  return losses;
}
