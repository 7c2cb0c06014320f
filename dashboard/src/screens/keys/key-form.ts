import type { ChangeKeyBody, CreateKeyBody, KeyAnswer, LicenseAnswer } from '../../lib/types.ts';
import { formatNumber } from '../../lib/format.ts';
import { countCharacters, isReadable } from '../../lib/text.ts';

export const maxNameLength = 64;

/** The largest budget of a key; the service says so too. */
export const maxMonthlyCredits = 1_000_000_000;

export const expiryChoices = {
  never: 'Never',
  '30-days': 'In 30 days',
  '90-days': 'In 90 days',
  '1-year': 'In 1 year',
  custom: 'At a time that you choose',
} as const;
export type ExpiryChoice = keyof typeof expiryChoices;

export type KeyAccess = KeyAnswer['access'];
export const accessChoices: Record<KeyAccess, string> = {
  license: "All of the license's requests",
  own: 'Only requests that it made',
};

export interface KeyFormValues {
  /** Empty when no license can have keys. */
  licenseId: string;
  name: string;
  /** Credits as they are typed; empty for a key without a budget. */
  budget: string;
  access: KeyAccess;
  /** How many requests at a time, as typed; empty for a key without a limit of its own. */
  places: string;
  expiry: ExpiryChoice;
  /** `2027-01-31T18:00` in the reader's zone, or empty: the value of a date and time control. */
  customTime: string;
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

/** @returns null where nothing is typed, NaN for what is not a whole number. */
export function numberOf(typed: string): number | null {
  const text = typed.trim();
  if (text === '') return null;
  return /^\d{1,15}$/.test(text) ? Number(text) : NaN;
}

export function budgetProblem(budget: string): string | null {
  return numberProblem(budget, maxMonthlyCredits, 'no budget');
}

function numberProblem(typed: string, max: number, emptyMeans: string): string | null {
  const number = numberOf(typed);
  if (number === null || (number >= 1 && number <= max)) return null;
  return `Enter a whole number from 1 to ${formatNumber(max)}, in digits only. Leave it empty for ${emptyMeans}.`;
}

/** A key that only sees its own is for a place that others reach: it shall not hold all places. */
export function proposedPlaces({ maxInFlight }: Pick<LicenseAnswer, 'maxInFlight'>): string {
  return String(Math.max(1, Math.floor(maxInFlight / 2)));
}

export function customTimeProblem(customTime: string, nowMs: number): string | null {
  const timeMs = Date.parse(customTime);
  if (customTime === '' || Number.isNaN(timeMs)) return 'Enter a date and a time.';
  if (timeMs <= nowMs) return 'Choose a time in the future.';
  return new Date(timeMs).getFullYear() > 9998 ? 'Choose a time before the year 9999.' : null;
}

/** @param license of the key, where it is known */
export function problemsOf(
  values: KeyFormValues,
  nowMs: number,
  license: Pick<LicenseAnswer, 'maxInFlight'> | undefined,
): Record<'name' | 'budget' | 'places' | 'customTime' | 'license', string | null> {
  return {
    ...editProblems(values, license),
    customTime: values.expiry === 'custom' ? customTimeProblem(values.customTime, nowMs) : null,
    license: values.licenseId === '' ? 'Choose a license.' : null,
  };
}

/** Of what can be changed later, too. */
export function editProblems(
  { name, budget, places }: KeyEdit,
  license: Pick<LicenseAnswer, 'maxInFlight'> | undefined,
): Record<'name' | 'budget' | 'places', string | null> {
  return {
    name: nameProblem(name),
    budget: budgetProblem(budget),
    places: numberProblem(places, license?.maxInFlight ?? Infinity, 'no limit of its own'),
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
  return {
    licenseId: values.licenseId,
    expiresAt: expiresAt(values, nowMs),
    ...valuesOf(values),
  };
}

type KeyEdit = Pick<KeyFormValues, 'name' | 'budget' | 'access' | 'places'>;
type Changeable = Pick<KeyAnswer, 'name' | 'monthlyCredits' | 'access' | 'maxInFlight'>;

export function editOf({ name, monthlyCredits, access, maxInFlight }: Changeable): KeyEdit {
  return { name, access, budget: String(monthlyCredits ?? ''), places: String(maxInFlight ?? '') };
}

function valuesOf({ name, budget, access, places }: KeyEdit): Changeable {
  return { name: name.trim(), access, monthlyCredits: numberOf(budget), maxInFlight: numberOf(places) };
}

/**
 * Only what is different, so that a change made elsewhere in the meantime is kept.
 * @returns null where nothing is
 */
export function changesOf(key: Changeable, edit: KeyEdit): ChangeKeyBody | null {
  const changes = Object.entries(valuesOf(edit)).filter(
    ([member, value]) => value !== key[member as keyof Changeable],
  );
  return changes.length === 0 ? null : Object.fromEntries(changes);
}

/** What to do about a refusal, beside the API's own sentence. */
type Advice = (refusal: { status: number; code: string }) => string | null;

/** @param uncertain what to say where the work may be done although no answer came */
function adviceOf(byCode: Record<string, string>, uncertain: string): Advice {
  return ({ status, code }) => byCode[code] ?? (status < 400 || status >= 500 ? uncertain : null);
}

export const createKeyAdvice = adviceOf(
  {
    LICENSE_INACTIVE: 'Choose another license, or renew this one with whoever manages your subscription.',
    LICENSE_NOT_FOUND: 'It may have been moved to another account. Reload the page to see your licenses.',
    KEY_LIMIT_REACHED: 'Do that, or choose another license, then try again.',
    RATE_LIMITED: 'Until then, use the keys that you have.',
    INVALID_PARAMETERS:
      "Correct what it names and try again. If an expiry in the future is refused, check this computer's clock.",
  },
  'The key may have been made all the same. Close this and look in the list: if it is there, revoke it, because it can no longer be shown.',
);

const goneKey = { KEY_NOT_FOUND: 'Reload the page to see your keys as they are now.' };

export const changeKeyAdvice = adviceOf(
  goneKey,
  'The key may have been changed all the same. Try again; doing it twice does no harm.',
);

export const revokeKeyAdvice = adviceOf(
  goneKey,
  'The key may still be accepted. Try again; doing it twice does no harm.',
);
