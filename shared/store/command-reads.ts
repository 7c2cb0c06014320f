import type { Identity } from '../domain/identity.ts';
import { identityFromItem } from './identity-store.ts';
import { idempotencyRecordFromItem, type IdempotencyRecord } from './idempotency-store.ts';
import { batchGet, type Table } from './table.ts';
import { itemKeys, type ItemKey } from './table-keys.ts';

export interface CommandReads {
  identity: Identity | null;
  idempotencyRecord: IdempotencyRecord | null;
}

/** Reads what a generation's command needs beside its caller, in one strong read. */
export async function readForCommand(
  table: Table,
  wanted: { identityId: string | null; callerId: string; idempotencyKeyHash: string | null },
): Promise<CommandReads> {
  const identityKey = wanted.identityId === null ? null : itemKeys.identity(wanted.identityId);
  const idempotencyKey =
    wanted.idempotencyKeyHash === null
      ? null
      : itemKeys.idempotencyRecord(wanted.callerId, wanted.idempotencyKeyHash);
  const keys = [identityKey, idempotencyKey].filter((key): key is ItemKey => key !== null);
  const items = keys.length === 0 ? [] : await batchGet(table, keys);
  const itemOf = (key: ItemKey | null) => (key === null ? undefined : items[keys.indexOf(key)]);
  const identity = itemOf(identityKey);
  const idempotencyRecord = itemOf(idempotencyKey);
  return {
    identity: identity ? identityFromItem(identity) : null,
    idempotencyRecord: idempotencyRecord ? idempotencyRecordFromItem(idempotencyRecord) : null,
  };
}
