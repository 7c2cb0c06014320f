import { changesBetween, someOperator, type Actor, type AuditChange } from '../accounts/audit.ts';
import { auditEntry } from '../accounts/audit-store.ts';
import type { Clock } from '../base/clock.ts';
import { serviceBusy } from '../base/errors.ts';
import { itemKeys, sortPrefixes } from '../table/keys.ts';
import { getItem, queryAll, type Item, type Table } from '../table/table.ts';
import { transact, type Parts } from '../table/transact.ts';
import { identityMembers, type Identity } from './identity.ts';
import {
  activeVersion,
  adapterVersionOf,
  plainVersion,
  type IdentityVersion,
  type StoredVersion,
} from './version.ts';

/** As people order names: by letters whatever their case, and "Studio 2" before "Studio 10". */
const { compare: inOrder } = new Intl.Collator('en', { numeric: true });

export type IdentityStore = ReturnType<typeof identityStore>;

/** What an operator's change makes of an identity. */
export interface IdentityChange {
  identity: Identity;
  /** Versions that are made with it, or what may change about them. */
  versions?: StoredVersion[];
  /** What the audit log says beside what changed of the identity. */
  noted?: AuditChange[];
}

/** So many changes of one identity may come between before one is refused. */
const maxTries = 5;

export function identityStore(table: Table) {
  const store = {
    /** Makes an identity, or replaces it whole. */
    put: (identity: Identity, by: Actor = someOperator, nowMs = Date.now()): Promise<Identity> =>
      store.change(identity.identityId, () => ({ identity }), by, nowMs),

    /**
     * Changes an identity and writes what changed. Of operators who change one at the same moment, each one's change is made of what
     * the other left.
     * @param change gets null where there is no such identity. It may be called more than once.
     * @throws SlugTaken
     */
    async change(
      identityId: string,
      change: (before: Identity | null) => IdentityChange | Promise<IdentityChange>,
      by: Actor = someOperator,
      nowMs = Date.now(),
    ): Promise<Identity> {
      for (let tries = 1; ; tries++) {
        const stored = await getItem(table, itemKeys.identity(identityId));
        const before = stored && identityFromItem(stored);
        // An earlier version of this program forgets what it does not know.
        if (before !== null && !stored?.revision) {
          const [newest] = await store.versions(identityId);
          before.lastVersion = Math.max(before.lastVersion, newest?.number ?? 0);
        }
        const changed = await change(before);
        const refusal = await transact(table, changeParts(stored, changed, by, nowMs));
        if (refusal === null) return changed.identity;
        if (refusal.slugTaken) throw new SlugTaken(changed.identity.slug);
        if (tries === maxTries) throw serviceBusy();
      }
    },

    /** @returns null where no identity got this slug since slugs are kept one by one. */
    async idOfSlug(slug: string): Promise<string | null> {
      const item = await getItem(table, itemKeys.slug(slug));
      return item && item.identityId;
    },

    /** @returns null where the identity has none of this number. */
    async version(identityId: string, number: number): Promise<StoredVersion | null> {
      const item = await getItem(table, itemKeys.identityVersion(identityId, number));
      return item && versionFromItem(item);
    },

    /** Newest first. */
    async versions(identityId: string): Promise<StoredVersion[]> {
      const { PK, SK } = itemKeys.identityVersion(identityId, 0);
      const query = {
        KeyConditionExpression: 'PK = :catalog AND begins_with(SK, :versions)',
        ExpressionAttributeValues: { ':catalog': PK, ':versions': SK.slice(0, SK.lastIndexOf('#') + 1) },
        ScanIndexForward: false,
        ConsistentRead: true,
      };
      return queryAll(table, query, versionFromItem);
    },

    async get(identityId: string): Promise<Identity | null> {
      const item = await getItem(table, itemKeys.identity(identityId));
      return item && identityFromItem(item);
    },

    /** The whole catalog, by name. It is small: hundreds, not millions. */
    async list(): Promise<Identity[]> {
      const query = {
        KeyConditionExpression: 'PK = :catalog AND begins_with(SK, :kind)',
        ExpressionAttributeValues: { ':catalog': 'CATALOG', ':kind': sortPrefixes.identity },
        ConsistentRead: true,
      };
      const identities = await queryAll(table, query, identityFromItem);
      return identities.sort((a, b) => inOrder(a.name, b.name));
    },
  };
  return store;
}

/** New samples of a version. Those of the active one are shown. */
export function withSamples(identity: Identity, version: StoredVersion): IdentityChange {
  const isShown = version.number === identity.model?.number;
  return {
    identity: isShown ? { ...identity, samples: version.samples } : identity,
    versions: [version],
  };
}

/** A slug names one identity for ever, also after that was renamed. */
export class SlugTaken extends Error {
  constructor(slug: string) {
    super(`the slug ${slug} belongs to another identity`);
  }
}

interface ChangeRefusal {
  stored?: undefined;
  slugTaken?: boolean;
}

function changeParts(
  stored: Item | null,
  { identity, versions = [], noted = [] }: IdentityChange,
  by: Actor,
  nowMs: number,
): Parts<ChangeRefusal> {
  const { identityId, name, slug } = identity;
  const before = stored && identityFromItem(stored);
  const changes = changesBetween(before ? identityMembers(before) : {}, identityMembers(identity));
  const action = before === null ? 'identity_made' : 'identity_changed';
  const revision: number = stored?.revision ?? 0;
  return [
    {
      key: itemKeys.identity(identityId),
      // An earlier version of the service reads the model's version, and may serve beside this one.
      put: { ...identity, model: withVersionName(identity.model), revision: revision + 1 },
      ...(revision === 0
        ? { condition: 'attribute_not_exists(revision)' }
        : { condition: 'revision = :read', values: { ':read': revision } }),
      refusal: () => ({}),
    },
    {
      key: itemKeys.slug(slug),
      put: { identityId },
      condition: 'attribute_not_exists(PK) OR identityId = :identity',
      values: { ':identity': identityId },
      refusal: () => ({ slugTaken: true }),
    },
    ...versionsToStore(revision === 0 ? (before ?? identity) : null, versions).map((one) => ({
      key: itemKeys.identityVersion(identityId, one.number),
      put: one,
    })),
    auditEntry(
      'identities',
      { by, action, subjectId: identityId, subjectName: name, changes: [...changes, ...noted] },
      nowMs,
    ),
  ];
}

function withVersionName(model: IdentityVersion | null) {
  return model && { ...model, version: adapterVersionOf(model.number) };
}

/** @param first an identity whose active version was not stored by itself yet; null for others */
function versionsToStore(first: Identity | null, given: StoredVersion[]): StoredVersion[] {
  const unstored = first && activeVersion(first);
  if (unstored === null || given.some(({ number }) => number === unstored.number)) return given;
  return [unstored, ...given];
}

/** For so long an operator's change may go unseen. */
export const catalogLifetimeMs = 10_000;

interface Remembered<T> {
  value: T;
  /** When it was asked for, so that no change is missed while the answer is on its way. */
  askedAtMs: number;
}

/** What requests read of the catalog. */
export type IdentityCatalog = Pick<IdentityStore, 'get' | 'idOfSlug' | 'list' | 'version'>;

/**
 * Remembers for ten seconds what was read of the catalog, in this instance of the function. Only operators change the
 * catalog, and rarely, while each request needs it. An identity that is not there is never remembered: callers make up ids.
 */
export function identityCatalog(store: IdentityStore, clock: Pick<Clock, 'now'>): IdentityCatalog {
  const identities = remembering(clock, (identityId) => store.get(identityId));
  const slugs = remembering(clock, (slug) => store.idOfSlug(slug));
  const all = remembering(clock, () => store.list());
  const versions = remembering(clock, (place) => {
    const [identityId, number] = place.split('#');
    return store.version(identityId!, Number(number));
  });
  return {
    get: (identityId) => identities(identityId),
    idOfSlug: (slug) => slugs(slug),
    list: async () => (await all(''))!,
    version: (identityId, number) => versions(`${identityId}#${number}`),
  };
}

/** What is not there (null) is never remembered. */
function remembering<T>(clock: Pick<Clock, 'now'>, read: (name: string) => Promise<T | null>) {
  const byName = new Map<string, Remembered<T>>();
  return async (name: string): Promise<T | null> => {
    const remembered = byName.get(name);
    const ageMs = remembered ? clock.now() - remembered.askedAtMs : -1;
    if (remembered && ageMs >= 0 && ageMs < catalogLifetimeMs) return remembered.value;
    const askedAtMs = clock.now();
    const value = await read(name);
    if (value !== null) byName.set(name, { value, askedAtMs });
    return value;
  };
}

/**
 * The identity with this id, or else with this slug, present or former. An id costs one read and a slug three; only what is
 * neither, or is older than slugs that are kept one by one, reads the whole catalog.
 */
export async function identityByName(
  catalog: Pick<IdentityStore, 'get' | 'idOfSlug' | 'list'>,
  idOrSlug: string,
): Promise<Identity | null> {
  const byId = await catalog.get(idOrSlug);
  if (byId !== null) return byId;
  const identityId = await catalog.idOfSlug(idOrSlug);
  if (identityId !== null) return catalog.get(identityId);
  return (await catalog.list()).find((identity) => isNamed(identity, idOrSlug)) ?? null;
}

export function isNamed({ slug, formerSlugs }: Identity, name: string): boolean {
  return slug === name || formerSlugs.includes(name);
}

function identityFromItem(item: Item): Identity {
  // Older identities have none of what came later: samples, digests, versions.
  const model = item.model ? { ...plainVersion, ...item.model } : null;
  return {
    identityId: item.identityId,
    name: item.name,
    slug: item.slug,
    description: item.description,
    catalog: item.catalog,
    productPhotos: item.productPhotos,
    samples: item.samples ?? [],
    model: model && versionOf(model),
    lastVersion: item.lastVersion ?? model?.number ?? 0,
    formerSlugs: item.formerSlugs ?? [],
    withdrawn: item.withdrawn ?? null,
  };
}

function versionOf(item: Item): IdentityVersion {
  const { number, createdAtMs, note, settings, words, rights } = item;
  const { adapterKey, adapterSha256, baseModel } = item;
  const adapter = { adapterKey, adapterSha256, baseModel };
  return { number, createdAtMs, note, ...adapter, settings, words, rights };
}

function versionFromItem(item: Item): StoredVersion {
  const { samples, retiresAtMs } = item;
  return { ...versionOf(item), samples, retiresAtMs };
}
