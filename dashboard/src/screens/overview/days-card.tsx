import { lazy, Suspense, useId, useMemo, useState, type KeyboardEvent, type ReactNode } from 'react';
import type { UsageAnswer, UsageTally } from '@/api/types.ts';
import { Card, CardHeader, CardTitle } from '@/components/ui/card.tsx';
import { Skeleton } from '@/components/ui/skeleton.tsx';
import { ErrorBoundary } from '@/layout/error-boundary.tsx';
import { formatCount, formatCredits, formatUtcDay } from '@/lib/format.ts';
import { DaysTable } from './days-table.tsx';
import { dayAfterKey, knownDays, periodDays, sumOfDays, type PeriodDay } from './period-days.ts';

const DaysChart = lazy(() => import('./days-chart.tsx'));

/** Credits of each day of the period: a chart to look at, a slider to step through it, a table to listen to. */
export function DaysCard({ usage: { stats, aggregates } }: { usage: UsageAnswer }) {
  const { billingPeriodStart, billingPeriodEnd } = stats;
  const days = useMemo(
    () => periodDays({ billingPeriodStart, billingPeriodEnd }, aggregates.byDay),
    [billingPeriodStart, billingPeriodEnd, aggregates.byDay],
  );
  const [active, setActive] = useState<number | null>(null);
  const titleId = useId();
  const day = active === null ? undefined : days[active];
  const table = <DaysTable days={days} />;
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
      <ErrorBoundary fallback={<PlainTable labelledBy={titleId}>{table}</PlainTable>}>
        <DaySlider days={days} active={active} onActive={setActive} labelledBy={titleId} />
        <div className="sr-only">{table}</div>
      </ErrorBoundary>
    </Card>
  );
}

/** In place of a chart whose code does not arrive. Focusable, so that the keyboard can scroll it. */
function PlainTable({ labelledBy, children }: { labelledBy: string; children: ReactNode }) {
  return (
    <div
      tabIndex={0}
      role="group"
      aria-labelledby={labelledBy}
      className="max-h-72 overflow-y-auto rounded-md"
    >
      {children}
    </div>
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
      <Suspense fallback={<Skeleton className="absolute inset-0" />}>
        <DaysChart days={days} active={active} onActive={onActive} />
      </Suspense>
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
