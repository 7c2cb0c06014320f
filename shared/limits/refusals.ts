import { errorCodes, type ErrorCode } from '../base/errors.ts';

/** A few days more than can be asked for, so that no day that can be asked for is already incomplete. */
const keptRefusalDays = 35;

const dayMs = 24 * 60 * 60 * 1000;

/** What failed on our side, or after it was accepted. Nothing that the caller changes would have helped. */
const faults = new Set<ErrorCode>([
  'SERVICE_UNAVAILABLE',
  'INTERNAL_ERROR',
  'TIMEOUT',
  'GENERATION_FAILED',
  'CANCELLED',
]);

/** The codes that are counted as refusals. */
export const refusalCodes = (Object.keys(errorCodes) as ErrorCode[]).filter((code) => !faults.has(code));

export function isRefusalCode(code: unknown): code is ErrorCode {
  return refusalCodes.includes(code as ErrorCode);
}

/** How often a caller of a license was refused with a code on one day. */
export interface Refusal {
  /** UTC, as `2026-11-24`. */
  date: string;
  /** A keyId, or `playground`. */
  caller: string;
  code: ErrorCode;
  count: number;
}

/** A day of UTC, as `2026-11-24`. @param daysBefore that day itself is 0 */
export function dateOf(atMs: number, daysBefore = 0): string {
  return new Date(atMs - daysBefore * dayMs).toISOString().slice(0, 10);
}

/** Seconds since 1970 after which a day's counts may go. */
export function refusalsEndSeconds(date: string): number {
  return (Date.parse(date) + (keptRefusalDays + 1) * dayMs) / 1000;
}
