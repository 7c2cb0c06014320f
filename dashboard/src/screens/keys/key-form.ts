import type { CreateKeyBody } from '../../api/types.ts';
import { countCharacters, isReadable } from '../../lib/text.ts';

export const maxNameLength = 64;

/** When a new key ends. */
export const expiryChoices = {
  never: 'Never',
  '30-days': 'In 30 days',
  '90-days': 'In 90 days',
  '1-year': 'In 1 year',
  custom: 'At a time that you choose',
} as const;
export type ExpiryChoice = keyof typeof expiryChoices;

export interface KeyFormValues {
  /** Empty when no license can have keys. */
  licenseId: string;
  name: string;
  expiry: ExpiryChoice;
  /** `2027-01-31T18:00` in the reader's zone, or empty: the value of a date and time control. */
  customTime: string;
}

export interface KeyFormProblems {
  license: string | null;
  name: string | null;
  customTime: string | null;
}

/** White space at the ends is not sent. */
export function nameLength(name: string): number {
  return countCharacters(name.trim());
}

export function nameProblem(name: string): string | null {
  const length = nameLength(name);
  if (length === 0) return 'Enter a name, so that you can tell this key from others.';
  if (length > maxNameLength) return `Use at most ${maxNameLength} characters; these are ${length}.`;
  if (!isReadable(name)) return 'Remove the character that is not readable text.';
  return null;
}

export function customTimeProblem(customTime: string, nowMs: number): string | null {
  const timeMs = Date.parse(customTime);
  if (customTime === '' || Number.isNaN(timeMs)) return 'Enter a date and a time.';
  if (timeMs <= nowMs) return 'Choose a time in the future.';
  return new Date(timeMs).getFullYear() > 9998 ? 'Choose a time before the year 9999.' : null;
}

export function problemsOf(values: KeyFormValues, nowMs: number): KeyFormProblems {
  return {
    license: values.licenseId === '' ? 'Choose a license.' : null,
    name: nameProblem(values.name),
    customTime: values.expiry === 'custom' ? customTimeProblem(values.customTime, nowMs) : null,
  };
}

/** @returns ISO 8601 UTC; null for a key that does not expire, or while no time is entered. */
export function expiresAt(
  { expiry, customTime }: Pick<KeyFormValues, 'expiry' | 'customTime'>,
  nowMs: number,
): string | null {
  if (expiry === 'never') return null;
  if (expiry === 'custom') {
    const timeMs = Date.parse(customTime);
    return Number.isNaN(timeMs) ? null : new Date(timeMs).toISOString();
  }
  // In the reader's time zone: the same time of the day, even if the clocks change in between.
  const time = new Date(nowMs);
  if (expiry === '1-year') time.setFullYear(time.getFullYear() + 1);
  else time.setDate(time.getDate() + (expiry === '30-days' ? 30 : 90));
  return time.toISOString();
}

export function bodyOf(values: KeyFormValues, nowMs: number): CreateKeyBody {
  return { licenseId: values.licenseId, name: values.name.trim(), expiresAt: expiresAt(values, nowMs) };
}

/** `2027-01-31T18:00`: what a date and time control takes, in the reader's zone. */
export function controlTime(timeMs: number): string {
  const time = new Date(timeMs);
  const two = (value: number) => String(value).padStart(2, '0');
  const day = `${String(time.getFullYear()).padStart(4, '0')}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day}T${two(time.getHours())}:${two(time.getMinutes())}`;
}
