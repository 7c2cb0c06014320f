import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { auditDays, type AuditEntry } from './audit.ts';
import { newRequestId } from '../base/ids.ts';
import type { Item, Table } from '../table/table.ts';
import { itemKeys, ttlAttribute, type ItemKey } from '../table/keys.ts';
import { transact, type Part } from '../table/transact.ts';

/** What a change says of itself. The store adds when it was. */
export type AuditNote = Omit<AuditEntry, 'entryId' | 'atMs'>;

/** The audit log that an entry belongs to: that of a license, or that of all identities. */
export type AuditLog = { licenseId: string } | 'identities';

export interface AuditPage {
  entries: AuditEntry[];
  /** Where the next page begins; null on the last one. */
  next: string | null;
}

/** The audit logs of what owners, operators and billing changed. Only the changes themselves write them: see `auditEntry`. */
export function auditStore(table: Table) {
  return {
    /** A page of an audit log, newest first. @param before the entry after which it begins; null for the newest. */
    async listPage(log: AuditLog, limit: number, before: string | null): Promise<AuditPage> {
      const { Items: items = [], LastEvaluatedKey: last } = await table.documents.send(
        new QueryCommand({
          TableName: table.name,
          KeyConditionExpression: 'PK = :log',
          ExpressionAttributeValues: { ':log': keyOf(log, '').PK },
          ScanIndexForward: false,
          ConsistentRead: true,
          Limit: limit + 1,
          ...(before === null ? {} : { ExclusiveStartKey: keyOf(log, before) }),
        }),
      );
      const entries = items.slice(0, limit).map(fromItem);
      return { entries, next: items.length > limit ? entries.at(-1)!.entryId : (last?.SK ?? null) };
    },
  };
}

/** Writes that something was looked at, which changes nothing else. It is there before what it tells of. */
export async function noteRead(table: Table, log: AuditLog, note: AuditNote, nowMs: number): Promise<void> {
  await transact<object>(table, [auditEntry(log, note, nowMs)]);
}

/** The entry of a change, as a part of its transaction: both are stored, or neither. */
export function auditEntry(log: AuditLog, note: AuditNote, nowMs: number): Part<{ stored?: undefined }> {
  const expiresAtSeconds = Math.ceil(nowMs / 1000) + auditDays * 24 * 3600;
  return {
    key: keyOf(log, newRequestId(nowMs)),
    put: { ...note, atMs: nowMs, [ttlAttribute]: expiresAtSeconds },
    condition: 'attribute_not_exists(PK)',
    refusal: () => ({}),
  };
}

function keyOf(log: AuditLog, entryId: string): ItemKey {
  return log === 'identities'
    ? itemKeys.identityAudit(entryId)
    : itemKeys.licenseAudit(log.licenseId, entryId);
}

function fromItem(item: Item): AuditEntry {
  return {
    entryId: item.SK,
    atMs: item.atMs,
    by: item.by,
    action: item.action,
    subjectId: item.subjectId,
    subjectName: item.subjectName,
    changes: item.changes,
  };
}
