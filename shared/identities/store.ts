import { changesBetween, someOperator, type Actor } from '../accounts/audit.ts';
import { identityMembers } from './identity.ts';
import type { Clock } from '../base/clock.ts';
import type { Identity } from './identity.ts';
import { auditEntry } from '../accounts/audit-store.ts';
import { getItem, queryAll, type Item, type Table } from '../table/table.ts';
import { itemKeys, sortPrefixes } from '../table/keys.ts';
import { transact } from '../table/transact.ts';

/** As people order names: by letters whatever their case, and "Studio 2" before "Studio 10". */
const { compare: inOrder } = new Intl.Collator('en', { numeric: true });

export type IdentityStore = ReturnType<typeof identityStore>;

export function identityStore(table: Table) {
  return {
    /**
     * Makes an identity or replaces it whole, and writes what changed. Of operators who change one at the same moment
     * the last one wins, and each one's entry names the identity that it found.
     */
    async put(identity: Identity, by: Actor = someOperator, nowMs = Date.now()): Promise<void> {
      const { identityId, name } = identity;
      const stored = await getItem(table, itemKeys.identity(identityId));
      const before = stored && identityFromItem(stored);
      const changes = changesBetween(before ? identityMembers(before) : {}, identityMembers(identity));
      const action = before === null ? 'identity_made' : 'identity_changed';
      await transact(table, [
        { key: itemKeys.identity(identityId), put: identity },
        auditEntry('identities', { by, action, subjectId: identityId, subjectName: name, changes }, nowMs),
      ]);
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
}

/** For so long an operator's change may go unseen. */
export const catalogLifetimeMs = 10_000;

interface Remembered<T> {
  value: T;
  /** When it was asked for, so that no change is missed while the answer is on its way. */
  askedAtMs: number;
}

/** What requests read of the catalog. */
export type IdentityCatalog = Pick<IdentityStore, 'get' | 'list'>;

/**
 * Remembers for ten seconds what was read of the catalog, in this instance of the function. Only operators change the
 * catalog, and rarely, while each request needs it. An identity that is not there is never remembered: callers make up ids.
 */
export function identityCatalog(store: IdentityStore, clock: Pick<Clock, 'now'>): IdentityCatalog {
  const byId = new Map<string, Remembered<Identity>>();
  let all: Remembered<Identity[]> | undefined;
  const isFresh = ({ askedAtMs }: Remembered<unknown>) => {
    const ageMs = clock.now() - askedAtMs;
    return ageMs >= 0 && ageMs < catalogLifetimeMs;
  };
  return {
    async get(identityId) {
      const remembered = byId.get(identityId);
      if (remembered && isFresh(remembered)) return remembered.value;
      const askedAtMs = clock.now();
      const value = await store.get(identityId);
      if (value !== null) byId.set(identityId, { value, askedAtMs });
      return value;
    },

    async list() {
      if (all && isFresh(all)) return all.value;
      const askedAtMs = clock.now();
      all = { value: await store.list(), askedAtMs };
      return all.value;
    },
  };
}

/** The identity with this id, or else with this slug. An id costs one read; only what is none reads the whole catalog. */
export async function identityByName(catalog: IdentityCatalog, idOrSlug: string): Promise<Identity | null> {
  const byId = await catalog.get(idOrSlug);
  return byId ?? (await catalog.list()).find(({ slug }) => slug === idOrSlug) ?? null;
}

function identityFromItem(item: Item): Identity {
  return {
    identityId: item.identityId,
    name: item.name,
    slug: item.slug,
    description: item.description,
    catalog: item.catalog,
    productPhotos: item.productPhotos,
    // Older identities have no samples, and no digest.
    samples: item.samples ?? [],
    model: item.model ? { adapterSha256: null, ...item.model } : null,
    ...(item.triggerWords && { triggerWords: item.triggerWords }),
    ...(item.rights && { rights: item.rights }),
    ...(item.source && { source: item.source }),
  };
}
