import type { ComponentProps } from 'react';
import { cn } from '@/lib/cn.ts';

/** Looks of every control that is typed into or opened. 16 px on phones, or iOS zooms in. */
export const controlLooks =
  'w-full rounded-md border border-input bg-card px-3 text-base lg:text-sm transition-colors focus-visible:-outline-offset-1 placeholder:text-muted-foreground disabled:cursor-not-allowed disabled:opacity-50 aria-invalid:border-destructive';

export function Input({ className, type = 'text', ...props }: ComponentProps<'input'>) {
  return <input type={type} className={cn(controlLooks, 'h-10', className)} {...props} />;
}
