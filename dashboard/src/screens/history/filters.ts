import type { GenerationFilters } from '../../api/queries.ts';
import type { GenerationType, KeyAnswer } from '../../lib/types.ts';
import { controlTime } from '../../lib/format.ts';
import { statuses, typeLabels } from '../../lib/outputs.ts';

const types = Object.keys(typeLabels) as GenerationType[];

/** The key of those requests that were made in the playground. */
const playground = 'playground';

export type HistoryFilters = TimeRange & Omit<GenerationFilters, 'createdAfter' | 'createdBefore'>;

export const maxSearchLength = 200;

/** Reads filters from an address. Values that are not valid are ignored, so a mistyped address still shows a list. */
export function readFilters(query: URLSearchParams): HistoryFilters {
  const when = (name: string): string | undefined => only(isDay, query.get(name));
  const range = query.get('range');
  const named = range !== null && Object.hasOwn(namedRanges, range) ? (range as NamedRange) : undefined;
  const status = query.get('status')?.toUpperCase();
  const type = query.get('type')?.toLowerCase();
  return defined({
    identityId: only((id) => /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(id), query.get('identity')),
    status: statuses.find((name) => name === status),
    type: types.find((name) => name === type),
    keyId: only((id) => id === playground || /^key_[0-9a-f]{32}$/.test(id), query.get('key')),
    search: readSearch(query.get('search') ?? ''),
    range: named,
    ...(named === undefined && { from: when('from'), to: when('to') }),
  });
}

/** A search as the service takes it; undefined for none. */
export function readSearch(typed: string): string | undefined {
  const words = typed.toWellFormed().replaceAll('\0', '').trim();
  return words === '' ? undefined : [...words].slice(0, maxSearchLength).join('').trim();
}

function only(isAllowed: (value: string) => boolean, value: string | null): string | undefined {
  return value !== null && isAllowed(value) ? value : undefined;
}

function defined<T extends object>(values: T): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>;
}

const addressNames = { identityId: 'identity', keyId: 'key' } as Record<string, string>;

/** The query of the address that names these filters, without a question mark; empty for none. */
export function writeFilters(filters: HistoryFilters): string {
  const named = Object.entries(defined(filters)).map(([name, value]) => [addressNames[name] ?? name, value]);
  return new URLSearchParams(Object.fromEntries(named)).toString();
}

export function toApiFilters(filters: HistoryFilters, nowMs: number, periodStart: string): GenerationFilters {
  const { range, from, to, ...others } = filters;
  return { ...defined(others), ...boundsOf({ range, from, to }, nowMs, periodStart) };
}

/** How many filters narrow the list. The days of a range count once. */
export function countFilters(filters: HistoryFilters): number {
  const { from, to, ...others } = defined(filters);
  return Object.keys(others).length + (from !== undefined || to !== undefined ? 1 : 0);
}

export function isFiltered(filters: HistoryFilters): boolean {
  return countFilters(filters) > 0;
}

/** Whether records are read and left out, which takes as long as the history is. */
export function isSearching({ identityId, status, type, keyId, search }: HistoryFilters): boolean {
  return [identityId, status, type, keyId, search].some((value) => value !== undefined);
}

/** An identity that a filter can name. */
interface NamedIdentity {
  id: string;
  name: string;
  slug: string;
}

/**
 * The identities that the license may use or has used, sorted by name, each once. The chosen one is always among them.
 */
export function identityChoices(
  known: readonly NamedIdentity[],
  chosenId: string | undefined,
): { id: string; label: string }[] {
  const byId = new Map<string, NamedIdentity>();
  for (const identity of known) if (!byId.has(identity.id)) byId.set(identity.id, identity);
  const named = [...byId.values()].sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }));
  const choices = named.map(({ id, name, slug }) => {
    const ambiguous = named.some((other) => other.id !== id && other.name === name);
    return { id, label: ambiguous && slug !== name ? `${name} (${slug})` : name };
  });
  if (chosenId !== undefined && !byId.has(chosenId)) choices.push({ id: chosenId, label: chosenId });
  return choices;
}

/** The playground, and the license's keys, also those that ended. The chosen one is always among them. */
export function keyChoices(
  keys: readonly Pick<KeyAnswer, 'keyId' | 'name' | 'status' | 'keyPrefix' | 'licenseId'>[],
  licenseId: string,
  chosenId: string | undefined,
): { id: string; label: string }[] {
  const own = keys.filter((key) => key.licenseId === licenseId);
  const choices = own.map(({ keyId, name, status, keyPrefix }) => {
    const isAmbiguous = own.some((other) => other.keyId !== keyId && other.name === name);
    const label = isAmbiguous ? `${name} (${keyPrefix}…)` : name;
    return { id: keyId, label: status === 'active' ? label : `${label}, ${status}` };
  });
  const all = [{ id: playground, label: 'Playground' }, ...choices];
  if (chosenId !== undefined && !all.some(({ id }) => id === chosenId)) {
    all.push({ id: chosenId, label: `A key that is not listed (${chosenId.slice(0, 8)}…)` });
  }
  return all;
}

/** Ranges that are chosen by name. The address has the name, so a link means the same tomorrow as today: the last days. */
export const namedRanges = {
  today: 'Today',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  period: 'This billing period',
} as const;

export type NamedRange = keyof typeof namedRanges;

/** Days of the reader's own calendar, `YYYY-MM-DD`. */
export interface TimeRange {
  range?: NamedRange | undefined;
  /** The first day. */
  from?: string | undefined;
  /** The last day, which is part of the range. */
  to?: string | undefined;
}

/** Whether a text is a day that the calendar has. */
function isDay(text: string): boolean {
  return /^20\d\d-\d\d-\d\d$/.test(text) && startOfDay(text, 0).getDate() === Number(text.slice(8));
}

/** The instants that a range begins and ends with, for the API. */
export function boundsOf(
  { range, from, to }: TimeRange,
  nowMs: number,
  periodStart: string,
): GenerationFilters {
  if (range === 'period') return { createdAfter: periodStart };
  if (range !== undefined) return { createdAfter: daysAgo(nowMs, { today: 0, '7d': 6, '30d': 29 }[range]) };
  return {
    ...(from !== undefined && { createdAfter: startOfDay(from, 0).toISOString() }),
    ...(to !== undefined && { createdBefore: startOfDay(to, 1).toISOString() }),
  };
}

/** The beginning of a day, or of the day that comes so many days after it. */
function startOfDay(day: string, later: number): Date {
  const [year, month, date] = day.split('-').map(Number) as [number, number, number];
  return new Date(year, month - 1, date + later);
}

function daysAgo(nowMs: number, days: number): string {
  const now = new Date(nowMs);
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - days).toISOString();
}

/** A day for an `<input type="date">`. */
export function dayOf(ms: number): string {
  return controlTime(ms).slice(0, 10);
}
