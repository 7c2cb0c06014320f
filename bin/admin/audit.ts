import type { Command } from 'commander';
import type { AuditChange, AuditEntry, AuditValue } from '../../shared/accounts/audit.ts';
import { isoTime } from '../../shared/base/clock.ts';
import type { AuditTrail } from '../../shared/accounts/audit-store.ts';
import { answer, withExamples, type Session } from './command.ts';
import { usageFailure } from '../common/failure.ts';
import { getLicense } from './license.ts';
import { readableTime, table, type Answer } from '../common/output.ts';
import { id, wholeNumber } from '../common/values.ts';

const defaultLimit = 100;

interface AuditOptions {
  identities?: boolean;
  limit: number;
}

export function addAuditCommand(program: Command): void {
  const audit = program
    .command('audit')
    .description('who changed a license and its keys, or the identities; newest first, kept for 400 days')
    .argument('[license]', 'its id', id('LICENSE'))
    .option('--identities', 'of all identities instead of a license')
    .option('--limit <n>', 'at most so many', wholeNumber('--limit', 1, 1000), defaultLimit)
    .action((licenseId: string | undefined, options: AuditOptions, command: Command) => {
      if ((licenseId === undefined) === (options.identities !== true)) {
        throw usageFailure('Name a license or give --identities, one of the two.');
      }
      return answer(command, (session) => list(session, licenseId, options.limit));
    });
  withExamples(audit, ['audit lic_…', 'audit --identities --json']);
}

async function list(session: Session, licenseId: string | undefined, limit: number): Promise<Answer> {
  const trail: AuditTrail = licenseId === undefined ? 'identities' : { licenseId };
  const { entries, next } = await session.stores.audit.listPage(trail, limit, null);
  // A mistyped id must not look like a license that nobody changed.
  if (entries.length === 0 && licenseId !== undefined) await getLicense(session, licenseId);
  const rows = entries.map((entry) => [
    readableTime(entry.atMs),
    entry.by,
    entry.action,
    entry.subjectId,
    entry.changes.map(changeText).join('; '),
  ]);
  const older = next === null ? '' : `\n\nThere are older entries: --limit shows up to 1000.`;
  return {
    json: { entries: entries.map(entryJson), hasMore: next !== null },
    text:
      rows.length === 0
        ? 'Nothing was changed in the last 400 days.'
        : table(['WHEN', 'BY', 'WHAT', 'OF', 'CHANGES'], rows) + older,
  };
}

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
