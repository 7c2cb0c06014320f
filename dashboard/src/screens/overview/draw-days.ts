import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatUtcDay } from '@/lib/format.ts';
import { dayTicks, type PeriodDay } from './period-days.ts';

/** Pixels that a day's name takes on the axis, with air. */
const tickWidthPx = 72;
const fewestCredits = 4;
/** Of uPlot's `BarsPathBuilderFacetUnit` and `…Kind`, which exist as types only. */
const colorUnit = 3;
const discreteKind = 2;

/** Draws credits per day into an element; `active()` is the index of the day that stands out, or null. */
export function drawDays(element: HTMLElement, days: PeriodDay[], active: () => number | null): uPlot {
  const style = getComputedStyle(element);
  const color = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const axis = {
    stroke: color('muted-foreground'),
    font: `12px ${style.fontFamily}`,
    ticks: { show: false },
    grid: { show: false },
  };
  const border = { show: true, stroke: color('border'), width: 1 };
  const options: uPlot.Options = {
    width: element.clientWidth,
    height: element.clientHeight,
    padding: [8, 16, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    select: { show: false, left: 0, top: 0, width: 0, height: 0 },
    scales: {
      x: { time: false, range: [-0.5, days.length - 0.5] },
      y: { range: (_, _min, max) => [0, max < fewestCredits ? fewestCredits : max * 1.05] },
    },
    axes: [
      {
        ...axis,
        border,
        size: 28,
        gap: 8,
        splits: ({ width }) => dayTicks(days.length, Math.max(1, Math.floor(width / tickWidthPx))),
        values: (_, splits) => splits.map((index) => formatUtcDay(days[index]?.date ?? '')),
      },
      {
        ...axis,
        size: 36,
        gap: 8,
        space: 40,
        incrs: [1, 2, 5]
          .flatMap((step) => [0, 1, 2, 3, 4, 5, 6].map((zeros) => step * 10 ** zeros))
          .sort((a, b) => a - b),
        grid: { stroke: color('border'), width: 1 },
        values: (_, splits) => splits.map((value) => compact.format(value)),
      },
    ],
    series: [{}, { width: 0, points: { show: false }, paths: bars(color, active) }],
  };
  const credits = days.map(({ tally }) => tally?.credits ?? null);
  return new uPlot(options, [days.map((_, index) => index), credits], element);
}

const compact = new Intl.NumberFormat(undefined, { notation: 'compact' });

function bars(color: (name: string) => string, active: () => number | null): uPlot.Series.PathBuilder {
  const plain = color('foreground');
  const faded = color('input');
  return uPlot.paths.bars!({
    size: [0.7, 40],
    radius: [0.15, 0],
    disp: {
      fill: {
        unit: colorUnit,
        kind: discreteKind,
        values: ({ data }) => {
          const day = active();
          return Array.from(data[0]!, (_, index) => (day === null || day === index ? plain : faded));
        },
      },
    },
  });
}
