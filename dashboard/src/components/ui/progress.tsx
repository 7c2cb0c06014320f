import { Progress as Primitive } from 'radix-ui';
import type { ComponentProps } from 'react';
import { cn } from '@/lib/cn.ts';

/** `value` in percent; name it with `aria-label`. */
export function Progress({ className, value, ...props }: ComponentProps<typeof Primitive.Root>) {
  const percent = Math.min(100, Math.max(0, value ?? 0));
  return (
    <Primitive.Root
      value={percent}
      className={cn('relative h-2 w-full overflow-hidden rounded-full bg-secondary', className)}
      {...props}
    >
      <Primitive.Indicator
        className="block h-full rounded-full bg-primary transition-[width] duration-300"
        style={{ width: `${percent}%` }}
      />
    </Primitive.Root>
  );
}
