import { isoTime } from '../../shared/base/clock.ts';
import { isActive, maxInFlight, ruleInWords, type License } from '../../shared/licenses/license.ts';
import { listExtraCredits, type ExtraCredits } from '../../shared/licenses/extra-credits-store.ts';
import { licenseNames } from '../../shared/licenses/names.ts';
import { tiers } from '../../shared/licenses/tiers.ts';
import { counted, keyValues, listOf, readableTime, table, type Answer } from '../common/output.ts';
import type { Session } from './command.ts';

/** One license with the name that its owner reads, and the owner's e-mail address. */
export async function showLicense(session: Session, license: License): Promise<Answer> {
  const { stores, accounts, nowMs } = session;
  const { licenseId, ownerId } = license;
  const [listed, emails, extra] = await Promise.all([
    stores.licenses.listByOwner(ownerId),
    accounts.emailsOf([ownerId]),
    license.extraUntilMs === null ? [] : listExtraCredits(stores.table, licenseId),
  ]);
  // The index that lists them may not have the newest change yet.
  const others = listed.filter((other) => other.licenseId !== licenseId);
  const all = [...others, license].sort((a, b) => a.createdAtMs - b.createdAtMs);
  const name = licenseNames(all).get(licenseId)!;
  const answer = licenseAnswer(license, { name, ownerEmail: emails.get(ownerId) ?? null }, nowMs);
  if (extra.length === 0) return answer;
  return {
    json: { ...answer.json, extraCredits: extra.map(extraJson) },
    text: `${answer.text}\n\nExtra credits\n${table(
      ['LEFT', 'OF', 'EXPIRE', 'ID', 'WHY'],
      extra.map((one) => extraRow(one, nowMs)),
    )}`,
  };
}

function extraJson({ licenseId: _license, expiresAtMs, addedAtMs, ...extra }: ExtraCredits) {
  return { ...extra, expiresAt: isoTime(expiresAtMs), addedAt: isoTime(addedAtMs) };
}

function extraRow(extra: ExtraCredits, nowMs: number): (string | number)[] {
  const { left, amount, takenBack, expiresAtMs, paymentId, reason, source } = extra;
  const back = takenBack > 0 ? `, ${takenBack} refunded` : '';
  const isOver = expiresAtMs <= nowMs;
  return [
    isOver ? 0 : left,
    `${amount}${back}`,
    `${readableTime(expiresAtMs)}${isOver ? ' (expired)' : ''}`,
    paymentId,
    reason ?? source,
  ];
}

/** Each account is asked for by itself: to read the whole pool could end before a large one does. */
async function leftOf(all: License[], { isGone }: Session['accounts']): Promise<License[]> {
  const kept = all.filter(({ status, givenName }) => status !== 'ended' || givenName !== null);
  const left: License[] = [];
  for (const [ownerId, owned] of Map.groupBy(kept, (one) => one.ownerId))
    if (await isGone(ownerId)) left.push(...owned);
  return left;
}

export interface ListOptions {
  /** An account's sub or e-mail address; without one the licenses of all are listed. */
  owner?: string;
  /** Only those that an account left which deleted itself: `account erase` ends each, and takes its name away. */
  deleted?: boolean;
}

export async function listLicenses(session: Session, { owner, deleted }: ListOptions): Promise<Answer> {
  const { stores, accounts } = session;
  const all =
    owner === undefined
      ? await stores.licenses.listAll()
      : await stores.licenses.listByOwner(await accounts.ownerId(owner));
  const licenses = deleted ? await leftOf(all, accounts) : all;
  const byOwner = Map.groupBy(licenses, ({ ownerId }) => ownerId);
  const emails = await accounts.emailsOf([...byOwner.keys()]);
  const names = new Map([...byOwner.values()].flatMap((owned) => [...licenseNames(owned)]));
  const knownOf = ({ licenseId, ownerId }: License) => ({
    name: names.get(licenseId)!,
    ownerEmail: emails.get(ownerId) ?? null,
  });
  const columns = {
    LICENSE: (license: License) => license.licenseId,
    NAME: (license: License) => knownOf(license).name,
    OWNER: (license: License) => license.ownerId,
    'E-MAIL': (license: License) => knownOf(license).ownerEmail,
    TIER: (license: License) => license.tier,
    CREDITS: (license: License) => license.creditsLimit,
    'MAY USE': grantsOf,
    STATUS: ({ status, apiAccess }: License) => (apiAccess ? status : `${status}, no API`),
    'ACTIVE UNTIL': (license: License) => readableTime(license.activeUntilMs),
  };
  return {
    json: { licenses: licenses.map((license) => licenseJson(license, knownOf(license))) },
    text: listOf(licenses, columns, deleted ? 'No account left any.' : 'There are no licenses.'),
  };
}

/** What is not stored with a license. */
interface Known {
  /** What its owner reads: see `licenseNames`. */
  name: string;
  /** Null where it can't be found. */
  ownerEmail: string | null;
}

/** A license as the operator sees it. */
function licenseAnswer(license: License, known: Known, nowMs: number): Answer {
  return {
    json: licenseJson(license, known),
    text: keyValues([
      ['License', license.licenseId],
      ['Name', known.name],
      ['Owner', license.ownerId],
      ['E-mail', known.ownerEmail],
      ['Tier', tiers[license.tier].label],
      ['Credits', `${license.creditsLimit} a month`],
      ['In flight', `${counted(maxInFlight(license), 'request')} at a time`],
      ['May use', grantsOf(license)],
      ['API access', license.apiAccess ? 'yes' : 'no'],
      ['Status', statusOf(license)],
      ...suspensionRow(license),
      ...moderationRow(license),
      ['Keys', isActive(license, nowMs) ? 'accepted' : 'refused'],
      ['Period anchor', readableTime(license.periodAnchorMs)],
      ...countRows(license, nowMs),
      ['Active until', readableTime(license.activeUntilMs)],
      ['Created', readableTime(license.createdAtMs)],
    ]),
  };
}

function statusOf({ status, graceUntilMs }: License): string {
  return status === 'past_due' && graceUntilMs !== null
    ? `past_due, usable until ${readableTime(graceUntilMs)}`
    : status;
}

function suspensionRow({ suspended }: License): [string, string][] {
  return suspended ? [['Suspended', `${readableTime(suspended.atMs)}: ${suspended.reason}`]] : [];
}

function moderationRow({ moderation }: License): [string, string][] {
  return moderation ? [['Moderation', `${ruleInWords(moderation.rule)}: ${moderation.reason}`]] : [];
}

/** A count that is not the anchor's own period. */
function countRows({ carried }: License, nowMs: number): [string, string][] {
  if (carried === null || carried.endMs <= nowMs) return [];
  const times = `from ${readableTime(carried.startMs)} to ${readableTime(carried.endMs)}`;
  return [['Counted', `${counted(carried.creditsLimit, 'credit')} ${times}`]];
}

/** What a license may use, in words. */
function grantsOf({ foundingCatalog, identityIds }: License): string {
  const grants = [...(foundingCatalog ? ['founding catalog'] : []), ...identityIds];
  return grants.length === 0 ? 'no identity' : grants.join(', ');
}

/** Beside `name` it has `givenName` and `planName`, of which that was made. */
export function licenseJson(license: License, { name, ownerEmail }: Known): Record<string, unknown> {
  const {
    licenseId,
    ownerId,
    graceUntilMs,
    suspended,
    periodAnchorMs,
    carried,
    activeUntilMs,
    extraUntilMs: _until,
    createdAtMs,
    ...rest
  } = license;
  return {
    licenseId,
    name,
    ownerId,
    ownerEmail,
    ...rest,
    graceUntil: isoTime(graceUntilMs),
    suspended: suspended && { at: isoTime(suspended.atMs), reason: suspended.reason },
    periodAnchor: isoTime(periodAnchorMs),
    carried: carried && {
      start: isoTime(carried.startMs),
      end: isoTime(carried.endMs),
      creditsLimit: carried.creditsLimit,
    },
    activeUntil: isoTime(activeUntilMs),
    createdAt: isoTime(createdAtMs),
  };
}
