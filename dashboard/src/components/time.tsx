import type { ReactNode } from 'react';
import { formatDateTime, formatExactTime } from '@/lib/format.ts';

interface TimeProps {
  iso: string;
  /** How it is shown: `5 minutes ago`, a day. Without it the date and the time. */
  children?: ReactNode;
  className?: string;
}

/** A moment. Its seconds are in the title. */
export function Time({ iso, children, className }: TimeProps) {
  return (
    <time dateTime={iso} title={formatExactTime(iso)} className={className}>
      {children ?? formatDateTime(iso)}
    </time>
  );
}
