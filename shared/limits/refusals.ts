import { errorCodes, type ErrorCode } from '../base/errors.ts';
import type { RefusedRequestAnswer } from './contract.ts';

/** So that a month's first day can still be reported on when the next month is over, and some days more. */
export const keptRefusalDays = 66;

export const dayMs = 24 * 60 * 60 * 1000;

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

/** A refused request as it is kept. `caller` is a keyId, or `playground`; its sentence has nothing that the caller wrote. */
export interface RefusedRequest extends Omit<RefusedRequestAnswer, 'at' | 'keyId'> {
  atMs: number;
  caller: string;
}

const keptRefusedMs = 14 * dayMs;
const keepEveryMs = 10_000;
const maxKeptFor = 1000;
const maxErrorLength = 400;

/**
 * @returns what says whether a refused request of a license is kept, not only counted. A flood of them is one in ten seconds, from
 *   each process.
 */
export function refusedKeeper(): (licenseId: string, atMs: number) => boolean {
  /** Of the licenses that were refused last. */
  const keptAtMs = new Map<string, number>();
  return (licenseId, atMs) => {
    const before = keptAtMs.get(licenseId);
    if (before !== undefined && atMs - before < keepEveryMs) return false;
    keptAtMs.delete(licenseId);
    keptAtMs.set(licenseId, atMs);
    if (keptAtMs.size > maxKeptFor) keptAtMs.delete(keptAtMs.keys().next().value!);
    return true;
  };
}

/** A sentence without what it quotes. `quoteName` puts all that callers wrote into quotes, and a prompt or a key may be among it. */
export function withoutQuotes(sentence: string): string {
  const safe = sentence.replace(/"[^"]*"/g, '"…"');
  return safe.length > maxErrorLength ? `${safe.slice(0, maxErrorLength)}…` : safe;
}

/** In milliseconds since 1970. */
export function refusedEndMs({ atMs }: Pick<RefusedRequest, 'atMs'>): number {
  return atMs + keptRefusedMs;
}

/** A day of UTC, as `2026-11-24`. @param daysBefore that day itself is 0 */
export function dateOf(atMs: number, daysBefore = 0): string {
  return new Date(atMs - daysBefore * dayMs).toISOString().slice(0, 10);
}

/** Seconds since 1970 after which a day's counts may go. */
export function refusalsEndSeconds(date: string): number {
  return (Date.parse(date) + (keptRefusalDays + 1) * dayMs) / 1000;
}
