import { useEffect, useRef, useState, type PointerEvent, type RefObject } from 'react';
import { formatUtcDay } from '@/lib/format.ts';
import { dayAtFraction, dayTicks, knownDays, type PeriodDay } from './period-days.ts';

/** Around the bars, for the axes. */
const margin = { top: 8, right: 16, bottom: 28, left: 36 };
/** The width of a day's label on the axis, with space around it. */
const tickWidthPx = 72;
const tickHeightPx = 40;
const fewestCredits = 4;
const tickSteps = [1, 10, 100, 1e3, 1e4, 1e5, 1e6].flatMap((power) => [power, 2 * power, 5 * power]);
const compact = new Intl.NumberFormat(undefined, { notation: 'compact' });

interface DaysChartProps {
  days: PeriodDay[];
  /** The day that stands out. */
  active: number | null;
  onActive: (index: number | null) => void;
}

/** Bars for the credits of each day. They fill the positioned parent. */
export function DaysChart({ days, active, onActive }: DaysChartProps) {
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
