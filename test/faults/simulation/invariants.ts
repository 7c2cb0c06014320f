import { isDeepStrictEqual } from 'node:util';
import { isFinal } from '../../../shared/generations/generation.ts';
import { inFlightName, periodFromItem } from '../../../shared/licenses/period-store.ts';
import { extraSortKey, inFlightSortKey } from '../../../shared/table/keys.ts';
import type { Run } from './runs.ts';
import type { Json } from './table-calls.ts';

interface HasItem {
  item: Json;
}

/** A generation's record as it lies in the table, and what became of its request. */
export interface StoredRecord extends HasItem {
  PK: string;
  SK: string;
  licenseId: string;
  requestId: string;
  /** When it reached a final state, by the simulation's own time, and who wrote that. */
  endedAtMs: number | null;
  endedBy: Run | null;
  /** The run whose model began first. */
  startedBy: Run | null;
  /** Since when the model had capacity, when it ended. */
  capacitySinceMs: number | null;
}

export const isPeriod = ({ PK, SK }: { PK: string; SK: string }): boolean =>
  PK.startsWith('PERIOD#') && SK !== inFlightSortKey && SK !== extraSortKey;

export function isOpen({ item }: HasItem): boolean {
  return !isFinal(item.status);
}

const completedOf = (records: HasItem[]) => records.filter(({ item }) => item.status === 'COMPLETED');
const creditsOf = (records: HasItem[]) => records.reduce((credits, { item }) => credits + item.credits, 0);

function wrongTotals(
  { used, committed, imported = 0 }: { used: number; committed: number; imported?: number },
  records: HasItem[],
): string | null {
  const charged = creditsOf(completedOf(records));
  const held = creditsOf(records.filter(isOpen));
  if (used < 0 || used > committed) return `used ${used}, committed ${committed}`;
  if (used !== charged + imported)
    return `used ${used}, but ${charged} were charged and ${imported} imported`;
  return committed - used === held ? null : `${committed - used} are held, but ${held} by requests`;
}

/** What is wrong with a period, given every record that names it; null when nothing is. */
export function wrongPeriod(period: Json, records: HasItem[]): string | null {
  const { used = 0, committed = 0, imported, fromExtra = 0 } = period;
  const extra = Object.values(extraCreditsOf(records)).reduce((sum, credits) => sum + credits, 0);
  if (fromExtra !== extra) return `${fromExtra} are from extra credits, but ${extra} were taken there`;
  return wrongTotals({ used, committed, imported }, records);
}

/** What these requests used or hold of each balance of extra credits. */
export function extraCreditsOf(records: HasItem[]): Record<string, number> {
  const taken: Record<string, number> = {};
  for (const { item } of records.filter((record) => isOpen(record) || record.item.status === 'COMPLETED'))
    for (const [name, credits] of Object.entries((item.fromExtra ?? {}) as Record<string, number>))
      taken[name] = (taken[name] ?? 0) + credits;
  return taken;
}

/** What is wrong with what a period says of its keys, given every record that names it. */
function wrongKeys(period: Json, records: HasItem[]): string | null {
  const { byKey } = periodFromItem(period);
  const keyIds = new Set([...Object.keys(byKey), ...records.map(({ item }) => item.keyId)]);
  for (const keyId of keyIds) {
    const own = records.filter(({ item }) => item.keyId === keyId);
    const { requests, credits: used, committed } = byKey[keyId] ?? { requests: 0, credits: 0, committed: 0 };
    const completed = completedOf(own).length;
    const wrong = wrongTotals({ used, committed }, own);
    if (wrong !== null) return `${keyId}: ${wrong}`;
    if (requests !== completed) return `${keyId}: ${requests} requests, but ${completed} completed`;
  }
  return null;
}

/** The same of the period, of its keys, and of what each has in flight, of those that the period should count. */
export function wrongCounts(period: Json, records: HasItem[], open: HasItem[]): string | null {
  return wrongPeriod(period, records) ?? wrongKeys(period, records) ?? wrongPlaces(period, open);
}

function wrongPlaces(period: Json, open: HasItem[]): string | null {
  const wanted: Record<string, number> = {};
  const names = open.flatMap(({ item }) => (item.keyInFlight ? [inFlightName(item.keyId), 'f#all'] : []));
  for (const name of names) wanted[name] = (wanted[name] ?? 0) + 1;
  const counted = Object.entries(periodFromItem(period).inFlightByKey).filter(([, count]) => count !== 0);
  if (isDeepStrictEqual(Object.fromEntries(counted), wanted)) return null;
  return `keys have in flight ${JSON.stringify(wanted)}, counted are ${JSON.stringify(counted)}`;
}

/** Statistics count what was charged, each way. */
export function wrongTallies(period: Json, records: HasItem[]): string | null {
  const completed = completedOf(records);
  const counted = `${completed.length} requests and ${creditsOf(completed)} credits`;
  for (const kind of ['t', 'i', 'd']) {
    const total = (unit: string) =>
      Object.entries(period)
        .filter(([name]) => name.startsWith(`${kind}#`) && name.endsWith(`#${unit}`))
        .reduce((sum, [, value]) => sum + value, 0);
    const said = `${total('n')} requests and ${total('c')} credits`;
    if (said !== counted) return `statistics "${kind}" count ${said}, not ${counted}`;
  }
  return null;
}
