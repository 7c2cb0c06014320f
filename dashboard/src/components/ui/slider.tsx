import { Slider as Primitive } from 'radix-ui';
import type { ComponentProps } from 'react';
import { cn } from '@/lib/cn.ts';

/** One thumb; name it with `aria-label` or `aria-labelledby`. */
export function Slider({
  className,
  'aria-label': label,
  'aria-labelledby': labelledBy,
  'aria-valuetext': valueText,
  ...props
}: ComponentProps<typeof Primitive.Root> & { 'aria-valuetext'?: string }) {
  return (
    <Primitive.Root
      className={cn(
        'relative flex h-6 w-full touch-none items-center select-none data-disabled:opacity-50',
        className,
      )}
      {...props}
    >
      <Primitive.Track className="relative h-1 grow overflow-hidden rounded-full bg-input/50">
        <Primitive.Range className="absolute h-full bg-primary" />
      </Primitive.Track>
      <Primitive.Thumb
        aria-label={label}
        aria-labelledby={labelledBy}
        aria-valuetext={valueText}
        className="block size-5 rounded-full border-2 border-primary bg-card transition-colors hover:bg-accent"
      />
    </Primitive.Root>
  );
}
