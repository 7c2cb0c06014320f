import {
  useId,
  useState,
  type KeyboardEvent,
  useEffect,
  useRef,
  type PointerEvent,
  type RefObject,
} from 'react';
import type { UsageAnswer, UsageTally } from '@/lib/types.ts';
import { Card, CardHeader, CardTitle } from '@/components/ui/card.tsx';
import { formatCount, formatCredits, formatNumber, formatUtcDate, formatUtcDay } from '@/lib/format.ts';
import {
  dayAfterKey,
  knownDays,
  periodDays,
  sumOfDays,
  type PeriodDay,
  dayAtFraction,
  dayTicks,
} from './period-days.ts';

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

const margin = { top: 8, right: 16, bottom: 28, left: 36 };
/** The width of a day's label on the axis, with space around it. */
const tickWidthPx = 72;
const tickHeightPx = 40;
const fewestCredits = 4;
const tickSteps = [1, 10, 100, 1e3, 1e4, 1e5, 1e6].flatMap((power) => [power, 2 * power, 5 * power]);
const compact = new Intl.NumberFormat(undefined, { notation: 'compact' });

interface DaysChartProps {
  days: PeriodDay[];
  active: number | null;
  onActive: (index: number | null) => void;
}

/** Bars for the credits of each day. They fill the positioned parent. */
function DaysChart({ days, active, onActive }: DaysChartProps) {
  const host = useRef<SVGSVGElement>(null);
  const { width, height } = useSize(host);
  const plotWidth = Math.max(0, width - margin.left - margin.right);
  const plotHeight = Math.max(0, height - margin.top - margin.bottom);
  const bottom = margin.top + plotHeight;
  const most = Math.max(...days.map(({ tally }) => tally?.credits ?? 0));
  const top = most < fewestCredits ? fewestCredits : most * 1.05;
  const middleOf = (day: number): number => margin.left + ((day + 0.5) / days.length) * plotWidth;
  const barWidth = Math.min(40, (0.7 * plotWidth) / days.length);

  const follow = ({ clientX }: PointerEvent): void => {
    const fraction = (clientX - host.current!.getBoundingClientRect().left - margin.left) / plotWidth;
    onActive(dayAtFraction(fraction, days.length, knownDays(days)));
  };
  return (
    <svg
      ref={host}
      aria-hidden
      onPointerDown={follow}
      onPointerMove={follow}
      // After a touch the day stays selected.
      onPointerLeave={({ pointerType }) => pointerType === 'mouse' && onActive(null)}
      className="absolute inset-0 size-full rounded-md fill-muted-foreground text-xs"
    >
      <CreditLines top={top} width={plotWidth} height={plotHeight} />
      {days.map(({ date, tally }, index) => (
        <path
          key={date}
          d={bar(middleOf(index), bottom, barWidth, ((tally?.credits ?? 0) / top) * plotHeight)}
          className={active === null || active === index ? 'fill-foreground' : 'fill-input'}
        />
      ))}
      {dayTicks(days.length, Math.max(1, Math.floor(plotWidth / tickWidthPx))).map((index) => (
        <text key={index} x={middleOf(index)} y={bottom + 8} textAnchor="middle" dominantBaseline="hanging">
          {formatUtcDay(days[index]?.date ?? '')}
        </text>
      ))}
    </svg>
  );
}

function useSize(element: RefObject<Element | null>): { width: number; height: number } {
  const [size, setSize] = useState({ width: 0, height: 0 });
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setSize(entry!.contentRect));
    observer.observe(element.current!);
    return () => observer.disconnect();
  }, [element]);
  return size;
}

/** Lines across the plot, with their credits at the left. */
function CreditLines({ top, width, height }: { top: number; width: number; height: number }) {
  const step = tickSteps.find((credits) => (credits / top) * height >= tickHeightPx) ?? top;
  return Array.from({ length: Math.floor(top / step) + 1 }, (_, index) => {
    const y = Math.round(margin.top + height * (1 - (index * step) / top)) + 0.5;
    return (
      <g key={index} transform={`translate(${margin.left} ${y})`}>
        <line x2={width} className="stroke-border" />
        <text x={-8} textAnchor="end" dominantBaseline="central">
          {compact.format(index * step)}
        </text>
      </g>
    );
  });
}

/** The path of a bar whose upper corners are round. */
function bar(middle: number, bottom: number, width: number, height: number): string {
  const radius = Math.min(0.15 * width, height);
  const side = height - radius;
  return `M${middle - width / 2} ${bottom}v${-side}q0 ${-radius} ${radius} ${-radius}h${width - 2 * radius}q${radius} 0 ${radius} ${radius}v${side}z`;
}
