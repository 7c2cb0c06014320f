import type { ReactNode } from 'react';
import { cn } from '@/lib/cn.ts';
import { formatDateTime } from '@/lib/format.ts';

export function Facts({ children }: { children: ReactNode }) {
  return <dl className="-my-2 divide-y divide-border">{children}</dl>;
}

interface FactProps {
  name: string;
  /** The value is so long that it stands below its name. */
  long?: boolean;
  children: ReactNode;
}

/** One line: its name at the left, its value at the right. */
export function Fact({ name, long = false, children }: FactProps) {
  return (
    <div className={cn('gap-x-4 py-2', long ? 'grid' : 'flex items-baseline justify-between')}>
      <dt className="shrink-0 text-muted-foreground">{name}</dt>
      <dd
        className={cn(
          'flex min-w-0 items-center gap-1 wrap-anywhere tabular-nums',
          long ? 'justify-between' : 'text-right',
        )}
      >
        {children}
      </dd>
    </div>
  );
}

/** The exact time is there for whoever points at it. */
export function TimeFact({ name, iso }: { name: string; iso: string | null }) {
  return (
    <Fact name={name}>
      {iso === null ? (
        '–'
      ) : (
        <time dateTime={iso} title={iso}>
          {formatDateTime(iso)}
        </time>
      )}
    </Fact>
  );
}
