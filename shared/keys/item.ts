import { keyRemovalMs } from './api-key.ts';
import type { KeyAccess } from './contract.ts';
import type { Item } from '../table/table.ts';
import { itemKeys, ownerIndex, sortPrefixes, ttlAttribute } from '../table/keys.ts';

/** What is stored of an API key. Times are milliseconds since 1970. */
export interface ApiKey {
  keyId: string;
  sha256: string;
  keyPrefix: string;
  name: string;
  /** Its budget: credits of its license's period; null for none. */
  monthlyCredits: number | null;
  access: KeyAccess;
  /** How many of its requests may be in flight at a time; null for none of its own. */
  maxInFlight: number | null;
  licenseId: string;
  ownerId: string;
  createdAtMs: number;
  expiresAtMs: number | null;
  revokedAtMs: number | null;
}

/** DynamoDB's own removal, some days late. Whole seconds, rounded up. */
export function ttlOf(key: ApiKey): number | null {
  const removalMs = keyRemovalMs(key);
  return removalMs === null ? null : Math.ceil(removalMs / 1000);
}

export function toItem(key: ApiKey): Item {
  const { monthlyCredits, access, maxInFlight, expiresAtMs, revokedAtMs, ...rest } = key;
  const ttl = ttlOf(key);
  return {
    ...itemKeys.apiKey(key.keyId),
    [ownerIndex.partition]: ownerIndex.of(key.ownerId),
    [ownerIndex.sort]: ownerIndex.sortOf(sortPrefixes.apiKey, key.createdAtMs, key.keyId),
    ...rest,
    ...(monthlyCredits === null ? {} : { monthlyCredits }),
    ...(access === 'license' ? {} : { access }),
    ...(maxInFlight === null ? {} : { maxInFlight }),
    ...(expiresAtMs === null ? {} : { expiresAtMs }),
    ...(revokedAtMs === null ? {} : { revokedAtMs }),
    ...(ttl === null ? {} : { [ttlAttribute]: ttl }),
  };
}

export function fromItem(item: Item): ApiKey {
  return {
    keyId: item.keyId,
    sha256: item.sha256,
    keyPrefix: item.keyPrefix,
    name: item.name,
    monthlyCredits: item.monthlyCredits ?? null,
    // Older keys have neither.
    access: item.access ?? 'license',
    maxInFlight: item.maxInFlight ?? null,
    licenseId: item.licenseId,
    ownerId: item.ownerId,
    createdAtMs: item.createdAtMs,
    expiresAtMs: item.expiresAtMs ?? null,
    revokedAtMs: item.revokedAtMs ?? null,
  };
}
