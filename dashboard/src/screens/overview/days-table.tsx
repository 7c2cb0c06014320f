import { formatNumber, formatUtcDate } from '@/lib/format.ts';
import type { PeriodDay } from './period-days.ts';

/** The chart's numbers, newest day last; days to come are left out. */
export function DaysTable({ days }: { days: PeriodDay[] }) {
  return (
    <table className="w-full text-right">
      <caption className="sr-only">Credits and completed requests of each day of the billing period</caption>
      <thead>
        <tr className="text-xs text-muted-foreground">
          <th scope="col" className="py-1 text-left font-normal">
            Day
          </th>
          <th scope="col" className="py-1 font-normal">
            Requests
          </th>
          <th scope="col" className="py-1 font-normal">
            Credits
          </th>
        </tr>
      </thead>
      <tbody>
        {days.map(({ date, tally }) =>
          tally === null ? null : (
            <tr key={date}>
              <th scope="row" className="py-1 text-left font-normal">
                {formatUtcDate(date)}
              </th>
              <td>{formatNumber(tally.requests)}</td>
              <td>{formatNumber(tally.credits)}</td>
            </tr>
          ),
        )}
      </tbody>
    </table>
  );
}
