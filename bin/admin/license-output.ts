import { isoTime } from '../../shared/base/clock.ts';
import { isActive, maxInFlight, type License } from '../../shared/licenses/license.ts';
import { tiers } from '../../shared/licenses/tiers.ts';
import { counted, keyValues, readableTime, type Answer } from '../common/output.ts';

/** What is not stored with a license. */
export interface Known {
  /** What its owner reads: see `licenseNames`. */
  name: string;
  /** Null where it can't be found. */
  ownerEmail: string | null;
}

/** A license as the operator sees it. */
export function licenseAnswer(license: License, known: Known, nowMs: number): Answer {
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

/** A count that is not the anchor's own period. */
function countRows({ carried }: License, nowMs: number): [string, string][] {
  if (carried === null || carried.endMs <= nowMs) return [];
  const times = `from ${readableTime(carried.startMs)} to ${readableTime(carried.endMs)}`;
  return [['Counted', `${counted(carried.creditsLimit, 'credit')} ${times}`]];
}

/** What a license may use, in words. */
export function grantsOf({ foundingCatalog, identityIds }: License): string {
  const grants = [...(foundingCatalog ? ['founding catalog'] : []), ...identityIds];
  return grants.length === 0 ? 'no identity' : grants.join(', ');
}

/** Beside `name` it has `givenName` and `planName`, of which that was made. */
export function licenseJson(license: License, { name, ownerEmail }: Known): Record<string, unknown> {
  const { licenseId, ownerId, graceUntilMs, periodAnchorMs, carried, activeUntilMs, createdAtMs, ...rest } =
    license;
  return {
    licenseId,
    name,
    ownerId,
    ownerEmail,
    ...rest,
    graceUntil: isoTime(graceUntilMs),
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
