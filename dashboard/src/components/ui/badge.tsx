import type { ComponentProps } from 'react';
import { cn } from '@/lib/cn.ts';

const variants = {
  default: 'bg-secondary text-foreground',
  outline: 'border border-border text-muted-foreground',
  success: 'bg-success-muted text-success',
  warning: 'bg-warning-muted text-warning',
  destructive: 'bg-destructive-muted text-destructive',
};

interface BadgeProps extends ComponentProps<'span'> {
  variant?: keyof typeof variants;
}

export function Badge({ className, variant = 'default', ...props }: BadgeProps) {
  return (
    <span
      className={cn(
        "inline-flex h-6 w-fit shrink-0 items-center gap-1 rounded-full px-2 text-xs font-medium whitespace-nowrap [&_svg:not([class*='size-'])]:size-3",
        variants[variant],
        className,
      )}
      {...props}
    />
  );
}
