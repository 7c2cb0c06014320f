import type { ComponentProps, ReactNode } from 'react';
import { cn } from '@/lib/cn.ts';

interface LoadingProps {
  label?: string;
  /** The classes of plain skeletons, one below the other: their heights. */
  bars?: string[];
  className?: string;
  children?: ReactNode;
}

/** Wraps skeletons, and says to screen readers once that something is loading. */
export function Loading({ label = 'Loading', bars = [], className, children }: LoadingProps) {
  return (
    <div role="status" aria-busy="true" className={cn('grid min-w-0 grid-cols-1 gap-4', className)}>
      <span className="sr-only">{label}</span>
      {bars.map((bar) => (
        <Skeleton key={bar} className={bar} />
      ))}
      {children}
    </div>
  );
}

/** Stands where content will be, inside of `Loading`. */
export function Skeleton({ className, ...props }: ComponentProps<'div'>) {
  return <div aria-hidden className={cn('animate-pulse rounded-md bg-secondary', className)} {...props} />;
}

export function ScreenSkeleton() {
  return (
    <Loading className="mx-auto w-full max-w-6xl gap-6">
      <Skeleton className="h-8 w-48" />
      <div className="grid gap-4 sm:grid-cols-2 lg:grid-cols-3">
        <Skeleton className="h-32" />
        <Skeleton className="h-32" />
        <Skeleton className="hidden h-32 lg:block" />
      </div>
      <Skeleton className="h-64" />
    </Loading>
  );
}
