import { listRefusalsByCategory } from '../../shared/limits/refusal-store.ts';
import { dayMs, keptRefusalDays } from '../../shared/limits/refusals.ts';
import type { License } from '../../shared/licenses/license.ts';
import { Failure } from '../common/failure.ts';
import { table, type Answer } from '../common/output.ts';
import type { Month } from '../common/values.ts';
import type { Session } from './command.ts';

/** So many licenses are read at a time. */
const atATime = 10;

interface Moderated {
  licenseId: string;
  ownerId: string;
  refused: number;
  /** Requests that completed in the month. */
  completed: number;
  /** A request may have several, or none. */
  categories: Record<string, number>;
}

/** What was refused for its content in a month, of what the days' counts hold. */
export async function reportModeration(session: Session, of: Month): Promise<Answer> {
  const countedFrom = firstDayCounted(session.nowMs, of);
  const all = await session.stores.licenses.listAll();
  const every: Moderated[] = [];
  for (let i = 0; i < all.length; i += atATime) {
    const read = all.slice(i, i + atATime).map((license) => moderated(session, license, of));
    every.push(...(await Promise.all(read)));
  }
  const found = every.filter(({ refused }) => refused > 0).sort((a, b) => b.refused - a.refused);
  const emails = await session.accounts.emailsOf([...new Set(found.map(({ ownerId }) => ownerId))]);
  const licenses = found.map((one) => ({
    ...one,
    ownerEmail: emails.get(one.ownerId) ?? null,
    percent: percentOf(one),
  }));
  const sums = { refused: 0, completed: 0, categories: noCounts() };
  for (const { refused, completed, categories } of every) {
    sums.refused += refused;
    sums.completed += completed;
    for (const [name, count] of Object.entries(categories)) add(sums.categories, name, count);
  }
  const total = { ...sums, percent: percentOf(sums) };
  const row = ({ refused, completed, percent, categories }: typeof total) => {
    return [refused, completed, `${percent}%`, inWords(categories)];
  };
  const rows = licenses.map((one) => [one.licenseId, one.ownerEmail ?? one.ownerId, ...row(one)]);
  const headings = ['LICENSE', 'OWNER', 'REFUSED', 'COMPLETED', 'SHARE', 'FOR'];
  const text =
    rows.length === 0
      ? `Nothing was refused for its content in ${of.name}.`
      : table(headings, [...rows, ['all licenses', '', ...row(total)]]);
  const note = countedFrom.endsWith('-01')
    ? ''
    : `\n\nRefusals are counted for ${keptRefusalDays} days: those before ${countedFrom} are gone.`;
  return { json: { month: of.name, countedFrom, licenses, total }, text: `${text}${note}` };
}

/** @throws Failure where the whole month is gone, or still to come */
function firstDayCounted(nowMs: number, { name, startMs, endMs }: Month): string {
  if (startMs > nowMs) throw new Failure(`${name} has not begun.`);
  const keptFromMs = nowMs - keptRefusalDays * dayMs;
  if (endMs <= keptFromMs) {
    throw new Failure(`Refusals are counted for ${keptRefusalDays} days: those of ${name} are gone.`);
  }
  return new Date(Math.max(startMs, Math.ceil(keptFromMs / dayMs) * dayMs)).toISOString().slice(0, 10);
}

async function moderated(
  { stores }: Session,
  { licenseId, ownerId }: License,
  of: Month,
): Promise<Moderated> {
  const days = await listRefusalsByCategory(stores.table, licenseId, of.name);
  const refused = days.reduce((sum, day) => sum + day.refused, 0);
  const categories = noCounts();
  for (const day of days)
    for (const [name, count] of Object.entries(day.categories)) add(categories, name, count);
  const completed = await completedIn(stores, licenseId, of);
  return { licenseId, ownerId, refused, completed, categories };
}

/** Periods count by day of completion, `MMDD`: no period holds a day twice, and none that began long before has days of the month. */
async function completedIn({ periods }: Session['stores'], licenseId: string, of: Month): Promise<number> {
  const longestMs = 62 * 24 * 60 * 60 * 1000;
  const near = (await periods.list(licenseId)).filter(
    ({ startMs }) => startMs < of.endMs && startMs > of.startMs - longestMs,
  );
  const days = near.flatMap(({ byDay }) => Object.entries(byDay));
  const inMonth = days.filter(([day]) => day.startsWith(of.name.slice(5)));
  return inMonth.reduce((sum, [, { requests }]) => sum + requests, 0);
}

/** Without a prototype, because a category may be any word, such as `constructor`. */
function noCounts(): Record<string, number> {
  return Object.create(null);
}

function add(counts: Record<string, number>, name: string, count: number): void {
  counts[name] = (counts[name] ?? 0) + count;
}

function percentOf({ refused, completed }: Pick<Moderated, 'refused' | 'completed'>): number {
  return refused === 0 ? 0 : Math.round((1000 * refused) / (refused + completed)) / 10;
}

function inWords(categories: Record<string, number>): string {
  const most = Object.entries(categories).sort(([, a], [, b]) => b - a);
  return most.map(([name, count]) => `${name} ${count}`).join(', ');
}
