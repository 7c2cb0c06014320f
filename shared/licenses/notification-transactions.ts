import { noticeDue, noticePercents, reachedAt, type NoticePercent } from './notifications.ts';
import type { Item } from '../table/table.ts';
import { itemKeys, ttlAttribute } from '../table/keys.ts';
import type { TransactItems } from '../table/transact.ts';

/*
 * A charge that reaches 80 or 100% of the credits says so in its own transaction: the period remembers the part as
 * `told`, and a notice waits to be sent. Every other charge has the condition that it reaches neither, so no charge
 * passes a part unseen. Conditions have no arithmetic: `used + credits < part` is written as `used < part - credits`.
 */

/** Notices of a period are worth nothing after its end. */
const keptDays = 40;

/** What a charge says of itself. */
interface Charge {
  licenseId: string;
  periodStartMs: number;
  credits: number;
  /** Null in a record of before there were notices. */
  creditsLimit: number | null;
  completedAtMs: number | null;
}

export interface NoticeWrite {
  condition: string;
  values: Record<string, number>;
  /** The part that this charge reaches; null where it must reach none. */
  percent: NoticePercent | null;
}

/**
 * @param period as a refused charge found it; null before the first attempt, which is that of a charge that reaches no part.
 * @returns null for a record of before there were notices.
 */
export function noticeWrite({ credits, creditsLimit }: Charge, period: Item | null): NoticeWrite | null {
  if (creditsLimit === null) return null;
  const percent =
    period === null ? null : noticeDue((period.used ?? 0) + credits, creditsLimit, period.told ?? 0);
  const [some, all] = noticePercents;
  const below = (part: NoticePercent) => reachedAt(part, creditsLimit) - credits;
  const values = { ':some': some, ':all': all, ':belowSome': below(some), ':belowAll': below(all) };
  // The first charge of a period finds no `used`.
  const isBelow = (part: 'Some' | 'All') =>
    values[`:below${part}`] > 0
      ? `(attribute_not_exists(used) OR used < :below${part})`
      : `used < :below${part}`;
  if (percent === null) {
    const condition = `(told = :all OR (told = :some AND ${isBelow('All')}) OR ${isBelow('Some')})`;
    return { condition, values, percent };
  }
  if (percent === all) {
    return { condition: `(attribute_not_exists(told) OR told < :all)`, values: { ':all': all }, percent };
  }
  return {
    condition: `attribute_not_exists(told) AND ${isBelow('All')}`,
    values: { ':belowAll': values[':belowAll'] },
    percent,
  };
}

/** The notice that waits to be sent. */
export function pendingNotice(
  TableName: string,
  { licenseId, periodStartMs, completedAtMs }: Charge,
  percent: NoticePercent,
): TransactItems[number] {
  const notice = { licenseId, periodStartMs, percent };
  const removeAtMs = completedAtMs! + keptDays * 24 * 3600 * 1000;
  const Item = { ...itemKeys.notice(notice), ...notice, [ttlAttribute]: Math.ceil(removeAtMs / 1000) };
  return { Put: { TableName, Item } };
}
