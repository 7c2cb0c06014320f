import { useId, useState, type KeyboardEvent } from 'react';
import type { UsageAnswer, UsageTally } from '@/api/types.ts';
import { Card, CardHeader, CardTitle } from '@/components/ui/card.tsx';
import { formatCount, formatCredits, formatNumber, formatUtcDate, formatUtcDay } from '@/lib/format.ts';
import { DaysChart } from './days-chart.tsx';
import { dayAfterKey, knownDays, periodDays, sumOfDays, type PeriodDay } from './period-days.ts';

/** Credits of each day: a chart, a slider to step through its days, and a table for screen readers. */
export function DaysCard({ usage: { stats, aggregates } }: { usage: UsageAnswer }) {
  const days = periodDays(stats, aggregates.byDay);
  const [active, setActive] = useState<number | null>(null);
  const titleId = useId();
  const day = active === null ? undefined : days[active];
  return (
    <Card aria-labelledby={titleId} className="relative flex flex-col">
      <CardHeader className="grid gap-y-0">
        <CardTitle id={titleId}>Credits per day</CardTitle>
        <p className="text-muted-foreground tabular-nums">
          {day === undefined
            ? (formatTally(sumOfDays(days)) ?? 'No completed requests yet')
            : describeDay(day)}
        </p>
      </CardHeader>
      <DaySlider days={days} active={active} onActive={setActive} labelledBy={titleId} />
      <div className="sr-only">
        <DaysTable days={days} />
      </div>
    </Card>
  );
}

interface DaySliderProps {
  days: PeriodDay[];
  active: number | null;
  onActive: (index: number | null) => void;
  labelledBy: string;
}

/** Arrow keys go from day to day, as the pointer does; the heading's line shows the day. */
function DaySlider({ days, active, onActive, labelledBy }: DaySliderProps) {
  const known = knownDays(days);
  const at = Math.min(active ?? known - 1, known - 1);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const next = event.key === 'Escape' ? null : dayAfterKey(event.key, at, known);
    if (next === null && event.key !== 'Escape') return;
    event.preventDefault();
    onActive(next);
  };
  const today = days[at];
  return (
    <div
      role="slider"
      tabIndex={0}
      aria-labelledby={labelledBy}
      aria-valuemin={1}
      aria-valuemax={known}
      aria-valuenow={at + 1}
      aria-valuetext={today && describeDay(today)}
      onKeyDown={onKeyDown}
      onFocus={({ currentTarget }) => {
        if (currentTarget.matches(':focus-visible')) onActive(at);
      }}
      onBlur={() => onActive(null)}
      className="relative min-h-56 flex-1 touch-pan-y rounded-md"
    >
      <DaysChart days={days} active={active} onActive={onActive} />
    </div>
  );
}

function describeDay({ date, tally }: PeriodDay): string {
  return `${formatUtcDay(date)}: ${formatTally(tally) ?? 'no completed requests'}`;
}

/** `12 credits in 4 requests`, null for none. */
function formatTally(tally: UsageTally | null): string | null {
  if (tally === null || tally.requests === 0) return null;
  return `${formatCredits(tally.credits)} in ${formatCount(tally.requests, 'request')}`;
}

/** The chart's numbers, newest day last; days to come are left out. */
function DaysTable({ days }: { days: PeriodDay[] }) {
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
