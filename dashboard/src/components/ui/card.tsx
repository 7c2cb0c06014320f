import type { ComponentProps, ReactNode } from 'react';
import { cn } from '@/lib/cn.ts';

interface CardProps extends ComponentProps<'section'> {
  title?: string;
  /** At the title's right. */
  aside?: ReactNode;
}

export function Card({ title, aside, className, children, ...props }: CardProps) {
  return (
    <section
      className={cn('min-w-0 rounded-lg border border-border bg-card p-4 sm:p-6', className)}
      {...props}
    >
      {title !== undefined && (
        <CardHeader>
          <CardTitle>{title}</CardTitle>
          {aside}
        </CardHeader>
      )}
      {children}
    </section>
  );
}

/** For titles with an id, or with more than text. */
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
