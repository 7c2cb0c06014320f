import type { ComponentProps } from 'react';
import { cn } from '@/lib/cn.ts';
import { controlLooks } from './input.tsx';

/** Grows with its text where the browser can. */
export function Textarea({ className, ...props }: ComponentProps<'textarea'>) {
  return (
    <textarea
      className={cn(controlLooks, 'field-sizing-content min-h-24 py-2 leading-6 lg:leading-6', className)}
      {...props}
    />
  );
}
