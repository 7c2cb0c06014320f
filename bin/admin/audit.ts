import type { AuditChange, AuditEntry, AuditValue } from '../../shared/accounts/audit.ts';
import { isoTime } from '../../shared/base/clock.ts';
import type { AuditLog } from '../../shared/accounts/audit-store.ts';
import type { CommandRow, Session } from './command.ts';
import { usageFailure } from '../common/failure.ts';
import { getLicense } from './get-license.ts';
import { listOf, readableTime, type Answer } from '../common/output.ts';
import { id, wholeNumber } from '../common/values.ts';

const defaultLimit = 100;

interface AuditOptions {
  identities?: boolean;
  limit: number;
}

export const auditCommand: CommandRow = {
  name: 'audit',
  description: 'who changed a license and its keys, or the identities; newest first, kept for 400 days',
  operands: [['[license]', 'its id', id]],
  options: [
    ['--identities', 'of all identities instead of a license'],
    ['--limit <n>', 'at most so many', wholeNumber(1, 1000), { usual: defaultLimit }],
  ],
  examples: ['audit lic_…', 'audit --identities --json'],
  run({ identities, limit }: AuditOptions, licenseId?: string) {
    if ((licenseId === undefined) === (identities !== true)) {
      throw usageFailure('Name a license or give --identities, one of the two.');
    }
    return (session) => list(session, licenseId, limit);
  },
};

async function list(session: Session, licenseId: string | undefined, limit: number): Promise<Answer> {
  const log: AuditLog = licenseId === undefined ? 'identities' : { licenseId };
  const { entries, next } = await session.stores.audit.listPage(log, limit, null);
  // A mistyped id must not look like a license that nobody changed.
  if (entries.length === 0 && licenseId !== undefined) await getLicense(session, licenseId);
  const older = next === null ? '' : `\n\nThere are older entries: --limit shows up to 1000.`;
  return {
    json: { entries: entries.map(entryJson), hasMore: next !== null },
    text: listOf(entries, columns, 'Nothing was changed in the last 400 days.') + older,
  };
}

const columns = {
  WHEN: (entry: AuditEntry) => readableTime(entry.atMs),
  BY: (entry: AuditEntry) => entry.by,
  WHAT: (entry: AuditEntry) => entry.action,
  OF: (entry: AuditEntry) => entry.subjectId,
  CHANGES: (entry: AuditEntry) => entry.changes.map(changeText).join('; '),
};

function entryJson({ atMs, ...entry }: AuditEntry): Record<string, unknown> {
  return { ...entry, at: isoTime(atMs) };
}

/** Of a list, only what was added and taken away is known. */
function changeText({ member, from, to }: AuditChange): string {
  if (Array.isArray(from) && Array.isArray(to)) {
    return [member, ...to.map((one) => `+${one}`), ...from.map((one) => `-${one}`)].join(' ');
  }
  return from === null ? `${member}: ${valueText(to)}` : `${member}: ${valueText(from)} -> ${valueText(to)}`;
}

function valueText(value: AuditValue): string {
  return value === null ? 'none' : String(value);
}
