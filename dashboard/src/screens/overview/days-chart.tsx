import { useEffect, useRef, type PointerEvent } from 'react';
import type uPlot from 'uplot';
import { useTheme } from '@/lib/theme.ts';
import { drawDays } from './draw-days.ts';
import { dayAtFraction, knownDays, type PeriodDay } from './period-days.ts';

interface DaysChartProps {
  days: PeriodDay[];
  /** The day that stands out. */
  active: number | null;
  onActive: (index: number | null) => void;
}

/** The bars, in a chunk of their own with the library that draws them. Fills the positioned element around it. */
export default function DaysChart({ days, active, onActive }: DaysChartProps) {
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot>(null);
  const shown = useRef(active);
  const { dark } = useTheme();

  // A canvas keeps the colours it was drawn with, so another theme draws it anew.
  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const plot = drawDays(element, days, () => shown.current);
    chart.current = plot;
    const resized = new ResizeObserver(() =>
      plot.setSize({ width: element.clientWidth, height: element.clientHeight }),
    );
    resized.observe(element);
    let drawn = true;
    // The axis may have been lettered before the typeface was there.
    void document.fonts.ready.then(() => drawn && plot.redraw(false, true));
    return () => {
      drawn = false;
      resized.disconnect();
      plot.destroy();
      chart.current = null;
    };
  }, [days, dark]);

  useEffect(() => {
    shown.current = active;
    chart.current?.redraw(true, false);
  }, [active]);

  const follow = ({ clientX }: PointerEvent): void => {
    const plot = chart.current;
    if (plot === null) return;
    const { left, width } = plot.over.getBoundingClientRect();
    onActive(dayAtFraction((clientX - left) / width, days.length, knownDays(days)));
  };
  return (
    <div
      ref={host}
      aria-hidden
      onPointerDown={follow}
      onPointerMove={follow}
      // A finger that is lifted leaves its day to be read.
      onPointerLeave={({ pointerType }) => pointerType === 'mouse' && onActive(null)}
      className="absolute inset-0 overflow-hidden rounded-md"
    />
  );
}
