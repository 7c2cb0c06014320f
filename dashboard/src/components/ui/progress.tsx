import { Progress as Primitive } from 'radix-ui';
import type { ComponentProps } from 'react';
import { cn } from '@/lib/cn.ts';

/** `value` in percent, null for "under way"; name it with `aria-label`. */
export function Progress({ className, value, ...props }: ComponentProps<typeof Primitive.Root>) {
  const percent = Math.min(100, Math.max(0, value ?? 0));
  const known = value !== null && value !== undefined;
  return (
    <Primitive.Root
      value={known ? percent : null}
      className={cn('relative h-2 w-full overflow-hidden rounded-full bg-secondary', className)}
      {...props}
    >
      <Primitive.Indicator
        className={cn(
          'block h-full rounded-full bg-primary transition-[width] duration-300',
          !known && 'animate-pulse',
        )}
        style={{ width: known ? `${percent}%` : '100%' }}
      />
    </Primitive.Root>
  );
}
