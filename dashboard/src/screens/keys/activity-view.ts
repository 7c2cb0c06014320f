import type { ActivityItem } from '../../lib/types.ts';
import { formatCount, formatCredits, formatDate } from '../../lib/format.ts';
import { isolated } from '../../lib/text.ts';

const subjects: Record<ActivityItem['by'], string> = {
  owner: 'You',
  operator: 'The operator',
  billing: 'Billing',
};

const verbs: Record<ActivityItem['action'], string> = {
  key_issued: 'created the key',
  key_changed: 'changed the key',
  key_revoked: 'revoked the key',
  license_granted: 'granted the license',
  license_changed: 'changed the license',
  request_read: 'read the prompt of a request',
};

/** What happened, in words: "You created the key", and what changed of the license. */
export function activityText({ by, action, changes }: ActivityItem): { what: string; details: string[] } {
  const details = changes.flatMap((change) => detailsOf(change, action));
  return { what: `${subjects[by]} ${verbs[action]}`, details };
}

type Change = ActivityItem['changes'][number];

/** A new license says what it has; members that say nothing of it are left out. */
function detailsOf({ member, from, to }: Change, action: ActivityItem['action']): string[] {
  const isNew = action === 'license_granted';
  switch (member) {
    case 'name':
      // The sentence has a new key's name already.
      if (action === 'key_issued') return [];
      if (action === 'key_changed') return [`renamed from ${quoted(from)}`];
      return [to === null ? `no longer named ${quoted(from)}` : `named ${quoted(to)}`];
    case 'monthlyCredits':
      return [to === null ? 'without a budget' : `${credits(to)} a month`];
    case 'planName':
      return to === null ? [] : [`plan ${quoted(to)}`];
    case 'expiresAt':
      return [`expires ${formatDate(String(to))}`];
    case 'tier':
      return [isNew ? String(to) : `${String(from)} to ${String(to)}`];
    case 'creditsLimit':
      return [isNew ? `${credits(to)} a month` : `${credits(from)} to ${credits(to)} a month`];
    case 'foundingCatalog':
      return to === true ? ['with the founding catalog'] : isNew ? [] : ['without the founding catalog'];
    case 'identityIds':
      return [...identities(to, 'more'), ...identities(from, 'less')];
    case 'apiAccess':
      return isNew && to === true ? [] : [`API access switched ${to === true ? 'on' : 'off'}`];
    case 'status':
      return isNew && to === 'active' ? [] : [statuses[String(to)] ?? String(to)];
    case 'activeUntil':
      return [to === null ? 'without an end' : `active until ${formatDate(String(to))}`];
    case 'unpaidRuns':
      return [`${formatCount(Number(from), 'run')} that nobody paid for forgiven`];
    case 'access':
      return [to === 'own' ? 'sees only its own requests' : "sees all of the license's requests"];
    case 'maxInFlight':
      return [places(to, action.startsWith('key'))];
    case 'graceUntil':
      return to === null ? [] : [`usable until ${formatDate(String(to))}`];
    case 'carriedCredits':
      return to === null ? [] : [`${credits(to)} until the count begins anew`];
    case 'suspendedBecause':
      return [to === null ? 'no longer suspended' : `suspended: ${quoted(to)}`];
    case 'request':
      return [String(to)];
    case 'carriedFrom':
    case 'carriedUntil':
      return [];
    case 'periodAnchor':
      return isNew ? [] : ['another billing day'];
    default:
      return otherDetails(member, to, isNew);
  }
}

function otherDetails(member: string, to: Change['to'], isNew: boolean): string[] {
  if (member in extraCredits) return [`${credits(to)} ${extraCredits[member]}`];
  return isNew ? [] : [`${member} changed`];
}

const quoted = (value: Change['to']): string => `“${isolated(String(value))}”`;

const extraCredits: Record<string, string> = {
  extraCreditsAdded: 'beside those of its months',
  extraCreditsTakenBack: 'of a refunded pack taken back',
};

const statuses: Record<string, string> = { active: 'active again', past_due: 'past due', ended: 'ended' };

function places(value: Change['to'], isOfKey: boolean): string {
  if (value !== null) return `${formatCount(Number(value), 'request')} at a time`;
  return isOfKey ? 'no limit of its own at a time' : 'as many requests at a time as the tier has';
}

function credits(value: Change['to']): string {
  return formatCredits(Number(value));
}

function identities(ids: Change['to'], word: 'more' | 'less'): string[] {
  if (!Array.isArray(ids) || ids.length === 0) return [];
  return [`${formatCount(ids.length, 'identity', 'identities')} ${word}`];
}
