import type { ComponentProps } from 'react';
import { cn } from '@/lib/cn.ts';

/** Holds the place of what is being loaded. Put `aria-busy` and a hidden sentence on the region around it. */
export function Skeleton({ className, ...props }: ComponentProps<'div'>) {
  return <div aria-hidden className={cn('animate-pulse rounded-md bg-secondary', className)} {...props} />;
}
