import type { ComponentProps } from 'react';
import { cn } from '@/lib/cn.ts';

export function Card({ className, ...props }: ComponentProps<'section'>) {
  return (
    <section
      className={cn('min-w-0 rounded-lg border border-border bg-card p-4 sm:p-6', className)}
      {...props}
    />
  );
}

/** A title, and perhaps an action at its right. */
export function CardHeader({ className, ...props }: ComponentProps<'div'>) {
  return (
    <div
      className={cn('mb-4 flex flex-wrap items-center justify-between gap-x-4 gap-y-2', className)}
      {...props}
    />
  );
}

export function CardTitle({ children, ...props }: ComponentProps<'h2'>) {
  return (
    <h2 className="text-base font-semibold" {...props}>
      {children}
    </h2>
  );
}
