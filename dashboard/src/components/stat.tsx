import type { ReactNode } from 'react';
import { cn } from '@/lib/cn.ts';

interface StatProps {
  label: string;
  value: ReactNode;
  /** A few words below the figure. */
  hint?: ReactNode;
  className?: string;
}

/** One figure with its name; several stand in a `<dl>`. */
export function Stat({ label, value, hint, className }: StatProps) {
  return (
    <div className={cn('grid min-w-0 content-start', className)}>
      <dt className="text-muted-foreground">{label}</dt>
      <dd className="text-2xl font-semibold tracking-tight tabular-nums">{value}</dd>
      {hint !== undefined && <dd className="text-xs leading-5 text-muted-foreground tabular-nums">{hint}</dd>}
    </div>
  );
}
