import type { UsageAnswer, UsageTally } from '../../lib/types.ts';
import { csvFile, type Cell } from '../../lib/requests-csv.ts';

type Row = UsageTally & { of: Cell[] };

/**
 * What a period used as CSV: by key, by identity and by day, each with the period's own sum. What is in the period and in no
 * row of a table, as credits that were used elsewhere, has a row of its own.
 */
export function usageCsv({ stats, aggregates: { byKey, byIdentity, byDay, byType } }: UsageAnswer): string {
  const completed = Object.values(byType);
  const whole = { requests: sumOf(completed, 'requests'), credits: stats.current };
  const keys = Object.entries(byKey).map(([id, { name, ...tally }]) => ({ of: [id, name], ...tally }));
  const identities = Object.entries(byIdentity).map(([id, { name, ...tally }]) => ({
    of: [id, name],
    ...tally,
  }));
  const days = byDay.map(({ date, ...tally }) => ({ of: [date], ...tally }));
  return csvFile([
    ['period start', 'period end', 'credits', 'limit'],
    [stats.billingPeriodStart, stats.billingPeriodEnd, stats.current, stats.limit],
    [],
    ...tableOf(['key id', 'key'], keys, whole),
    [],
    ...tableOf(['identity id', 'identity'], identities, whole),
    [],
    ...tableOf(['day (UTC)'], days, whole),
  ]);
}

function tableOf(names: string[], rows: Row[], whole: UsageTally): Cell[][] {
  const requests = whole.requests - sumOf(rows, 'requests');
  const credits = whole.credits - sumOf(rows, 'credits');
  const others = requests === 0 && credits === 0 ? [] : [{ of: firstOf(names, 'others'), requests, credits }];
  const all = { of: firstOf(names, 'all'), ...whole };
  const lines = [...rows, ...others, all].map((row) => [...row.of, row.requests, row.credits]);
  return [[...names, 'requests', 'credits'], ...lines];
}

const firstOf = (names: string[], word: string): Cell[] => names.map((_, i) => (i === 0 ? word : ''));

function sumOf(rows: UsageTally[], member: keyof UsageTally): number {
  return rows.reduce((sum, row) => sum + row[member], 0);
}
