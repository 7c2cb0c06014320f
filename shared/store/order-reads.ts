import type { Identity } from '../domain/identity.ts';
import { identityFromItem } from './identity-store.ts';
import { onceFromItem, type Once } from './once-store.ts';
import { batchGet, type Table } from './table.ts';
import { itemKeys, type ItemKey } from './table-keys.ts';

export interface OrderReads {
  identity: Identity | null;
  once: Once | null;
}

/** What a request to generate needs beside its caller, in one strong read. */
export async function readForOrder(
  table: Table,
  wanted: { identityId: string | null; callerId: string; onceId: string | null },
): Promise<OrderReads> {
  const identityKey = wanted.identityId === null ? null : itemKeys.identity(wanted.identityId);
  const onceKey = wanted.onceId === null ? null : itemKeys.once(wanted.callerId, wanted.onceId);
  const keys = [identityKey, onceKey].filter((key): key is ItemKey => key !== null);
  const items = keys.length === 0 ? [] : await batchGet(table, keys);
  const itemOf = (key: ItemKey | null) => (key === null ? undefined : items[keys.indexOf(key)]);
  const identity = itemOf(identityKey);
  const once = itemOf(onceKey);
  return { identity: identity ? identityFromItem(identity) : null, once: once ? onceFromItem(once) : null };
}
