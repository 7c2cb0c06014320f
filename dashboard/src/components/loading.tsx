import type { ReactNode } from 'react';
import { cn } from '@/lib/cn.ts';

/** Around skeletons: says to screen readers that something is being loaded, once. */
export function Loading({
  label = 'Loading',
  className,
  children,
}: {
  label?: string;
  className?: string;
  children: ReactNode;
}) {
  return (
    <div role="status" aria-busy="true" className={cn('grid min-w-0 grid-cols-1 gap-4', className)}>
      <span className="sr-only">{label}</span>
      {children}
    </div>
  );
}
