import { cva, type VariantProps } from 'class-variance-authority';
import type { ComponentProps } from 'react';
import { cn } from '@/lib/cn.ts';

const alertVariants = cva(
  'grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-1 rounded-lg border border-transparent p-4 text-sm [&>svg]:mt-1 [&>svg]:size-4 [&>svg+*]:col-start-2 [&>*:not(svg)]:col-start-2',
  {
    variants: {
      variant: {
        default: 'border-border bg-card',
        warning: 'bg-warning-muted [&>svg]:text-warning',
        destructive: 'bg-destructive-muted [&>svg]:text-destructive',
      },
    },
    defaultVariants: { variant: 'default' },
  },
);

/** An icon, an `AlertTitle` and an `AlertDescription`. Give it `role="alert"` only if it appears by itself. */
export function Alert({
  className,
  variant,
  ...props
}: ComponentProps<'div'> & VariantProps<typeof alertVariants>) {
  return <div className={cn(alertVariants({ variant }), className)} {...props} />;
}

export function AlertTitle({ className, ...props }: ComponentProps<'p'>) {
  return <p className={cn('font-medium', className)} {...props} />;
}

export function AlertDescription({ className, ...props }: ComponentProps<'div'>) {
  return <div className={cn('text-sm', className)} {...props} />;
}
