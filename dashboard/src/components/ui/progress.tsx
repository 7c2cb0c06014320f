import { Progress as Primitive } from 'radix-ui';
import type { ComponentProps } from 'react';
import { cn } from '@/lib/cn.ts';

/** `value` in percent, null while nobody knows how far it is; name it with `aria-label`. */
export function Progress({ className, value, ...props }: ComponentProps<typeof Primitive.Root>) {
  const percent = value === null ? null : Math.min(100, Math.max(0, value ?? 0));
  return (
    <Primitive.Root
      value={percent}
      className={cn('relative h-2 w-full overflow-hidden rounded-full bg-secondary', className)}
      {...props}
    >
      <Primitive.Indicator
        className={cn(
          'block h-full rounded-full bg-primary',
          percent === null
            ? 'w-1/3 animate-sweep motion-reduce:w-full motion-reduce:opacity-40'
            : 'transition-[width] duration-300',
        )}
        {...(percent !== null && { style: { width: `${percent}%` } })}
      />
    </Primitive.Root>
  );
}
