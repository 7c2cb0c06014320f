import type { ActivityItem } from './activity-contract.ts';
import type { AuditChange, AuditEntry, LicenseAuditAction } from '../accounts/audit.ts';
import { isoTime } from '../base/clock.ts';
import { tiers, type TierName } from './tiers.ts';

const kinds = { account: 'owner', operator: 'operator', billing: 'billing' } as const;

/** Reasons in an operator's own words, and rules for content: for operators. */
const forOperators = new Set([
  'forcedBecause',
  'readBecause',
  'creditedBecause',
  'moderation',
  'moderatedBecause',
]);

/** Whether its owner sees an entry at all: one of nothing but what is for operators tells them something, too. */
export function isForOwner({ changes }: AuditEntry): boolean {
  return changes.length === 0 || changes.some(({ member }) => !forOperators.has(member));
}

/** An entry of a license's audit log as its owner sees it. Who the operator is, and which event it was, is left out. */
export function activityItem({
  entryId,
  atMs,
  by,
  action,
  subjectId,
  subjectName,
  changes,
}: AuditEntry): ActivityItem {
  const isOfKey = action.startsWith('key_');
  return {
    id: entryId,
    at: isoTime(atMs),
    by: kinds[by.slice(0, by.indexOf(':')) as keyof typeof kinds],
    // A license's audit log has no others.
    action: action as LicenseAuditAction,
    keyId: isOfKey ? subjectId : null,
    keyName: isOfKey ? subjectName : null,
    changes: changes.filter(({ member }) => !forOperators.has(member)).map(inAnswers),
  };
}

/** Answers name tiers by their labels. */
function inAnswers({ member, from, to }: AuditChange): AuditChange {
  if (member !== 'tier') return { member, from, to };
  const label = (tier: unknown) => tiers[tier as TierName]?.label ?? null;
  return { member, from: label(from), to: label(to) };
}
