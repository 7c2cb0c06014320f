import { isDeepStrictEqual } from 'node:util';

/** Who changed something: an account, by its Cognito sub; an operator, by name; billing, by its event's id. */
export type Actor = `account:${string}` | `operator:${string}` | `billing:${string}`;

/** For what an operator changes in other ways than by the CLI, which knows the name. */
export const someOperator: Actor = 'operator:unnamed';

/** The ways in which a license and its keys change. */
export const activityActions = [
  'key_issued',
  'key_changed',
  'key_revoked',
  'license_granted',
  'license_changed',
  'request_read',
] as const;

/** In a license's audit log, and in that of all identities. */
export type LicenseAuditAction = (typeof activityActions)[number];
export type AuditAction = LicenseAuditAction | 'identity_made' | 'identity_changed';

export type AuditValue = string | number | boolean | null | string[];

/** A member that was changed. Of a list there is only what left it (`from`) and what came (`to`). */
export interface AuditChange {
  member: string;
  from: AuditValue;
  to: AuditValue;
}

/** What is remembered of one change. It holds no secret and no prompt. */
export interface AuditEntry {
  /** Ordered by time (RFC 9562, version 7). */
  entryId: string;
  atMs: number;
  by: Actor;
  action: AuditAction;
  /** The id of the key, the license or the identity. */
  subjectId: string;
  /** What people call it; null for a license. */
  subjectName: string | null;
  changes: AuditChange[];
}

/** How long entries are kept: a year, and what it takes to look back on one. */
export const auditDays = 400;

/** What may change of something, by the names under which the audit log keeps it. */
export type AuditedMembers = Readonly<Record<string, AuditValue>>;

/** The members that differ, in the order of `after`. A member that is not in `before` was null or empty. */
export function changesBetween(before: AuditedMembers, after: AuditedMembers): AuditChange[] {
  return Object.entries(after)
    .map(([member, to]) => changeOf(member, before[member] ?? (Array.isArray(to) ? [] : null), to))
    .filter(({ from, to }) => !isDeepStrictEqual(from, to));
}

function changeOf(member: string, from: AuditValue, to: AuditValue): AuditChange {
  if (!Array.isArray(from) || !Array.isArray(to)) return { member, from, to };
  const [had, has] = [new Set(from), new Set(to)];
  return { member, from: from.filter((one) => !has.has(one)), to: to.filter((one) => !had.has(one)) };
}
