import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { activityActions } from './activity-contract.ts';
import { isoTime } from '../base/clock.ts';
import type { Identity } from '../identities/identity.ts';
import type { License } from '../licenses/license.ts';

/** Who changed something: an account, by its Cognito sub; an operator, by name; billing, by its event's id. */
export type Actor = `account:${string}` | `operator:${string}` | `billing:${string}`;

/** For what an operator changes in other ways than by the CLI, which knows the name. */
export const someOperator: Actor = 'operator:unnamed';

/** Of a license's trail, and of that of all identities. */
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

type Members = Readonly<Record<string, AuditValue>>;

/** The members that differ, in the order of `after`. A member that is not in `before` was null or empty. */
export function changesBetween(before: Members, after: Members): AuditChange[] {
  return Object.entries(after)
    .map(([member, to]) => changeOf(member, before[member] ?? (Array.isArray(to) ? [] : null), to))
    .filter(({ from, to }) => !isDeepStrictEqual(from, to));
}

function changeOf(member: string, from: AuditValue, to: AuditValue): AuditChange {
  if (!Array.isArray(from) || !Array.isArray(to)) return { member, from, to };
  const [had, has] = [new Set(from), new Set(to)];
  return { member, from: from.filter((one) => !has.has(one)), to: to.filter((one) => !had.has(one)) };
}

/** The members of a license that may change. */
export function licenseMembers(license: License): Members {
  const { licenseId: _id, ownerId: _owner, createdAtMs: _created, ...members } = license;
  const { givenName, periodAnchorMs, activeUntilMs, graceUntilMs, carried, ...others } = members;
  return {
    name: givenName,
    ...others,
    periodAnchor: isoTime(periodAnchorMs),
    activeUntil: isoTime(activeUntilMs),
    graceUntil: isoTime(graceUntilMs),
    carriedFrom: isoTime(carried && carried.startMs),
    carriedUntil: isoTime(carried && carried.endMs),
    carriedCredits: carried && carried.creditsLimit,
  };
}

/** The members of an identity. Settings may be long, and may hold words for the model, so they are told by their hash. */
export function identityMembers({ identityId: _id, model, samples, ...members }: Identity): Members {
  return {
    ...members,
    samples: samples.map(({ sampleId }) => sampleId),
    modelVersion: model?.version ?? null,
    adapterKey: model?.adapterKey ?? null,
    adapterSha256: model?.adapterSha256 ?? null,
    settingsSha256: model && createHash('sha256').update(JSON.stringify(model.settings)).digest('hex'),
  };
}
