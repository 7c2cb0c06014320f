import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { auditDays, type AuditEntry } from './audit.ts';
import { newRequestId } from '../base/ids.ts';
import type { Item, Table } from '../table/table.ts';
import { itemKeys, ttlAttribute, type ItemKey } from '../table/keys.ts';
import type { Part } from '../table/transact.ts';

/** What a change says of itself. The store adds when it was. */
export type AuditNote = Omit<AuditEntry, 'entryId' | 'atMs'>;

/** The trail that an entry belongs to: that of a license, or that of all identities. */
export type AuditTrail = { licenseId: string } | 'identities';

export interface AuditPage {
  entries: AuditEntry[];
  /** Where the next page begins; null on the last one. */
  next: string | null;
}

/** The trails of what owners, operators and billing changed. Only the changes themselves write them: see `auditEntry`. */
export function auditStore(table: Table) {
  return {
    /** A page of a trail, newest first. @param before the entry after which it begins; null for the newest. */
    async listPage(trail: AuditTrail, limit: number, before: string | null): Promise<AuditPage> {
      const { Items: items = [], LastEvaluatedKey: last } = await table.documents.send(
        new QueryCommand({
          TableName: table.name,
          KeyConditionExpression: 'PK = :trail',
          ExpressionAttributeValues: { ':trail': keyOf(trail, '').PK },
          ScanIndexForward: false,
          ConsistentRead: true,
          Limit: limit + 1,
          ...(before === null ? {} : { ExclusiveStartKey: keyOf(trail, before) }),
        }),
      );
      const entries = items.slice(0, limit).map(fromItem);
      return { entries, next: items.length > limit ? entries.at(-1)!.entryId : (last?.SK ?? null) };
    },
  };
}

/** The entry of a change, as a part of its transaction: both are stored, or neither. */
export function auditEntry(trail: AuditTrail, note: AuditNote, nowMs: number): Part<{ stored?: undefined }> {
  const expiresAtSeconds = Math.ceil(nowMs / 1000) + auditDays * 24 * 3600;
  return {
    key: keyOf(trail, newRequestId(nowMs)),
    put: { ...note, atMs: nowMs, [ttlAttribute]: expiresAtSeconds },
    condition: 'attribute_not_exists(PK)',
    refusal: () => ({}),
  };
}

function keyOf(trail: AuditTrail, entryId: string): ItemKey {
  return trail === 'identities'
    ? itemKeys.identityAudit(entryId)
    : itemKeys.licenseAudit(trail.licenseId, entryId);
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
