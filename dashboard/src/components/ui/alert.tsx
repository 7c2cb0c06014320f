import type { LucideIcon } from 'lucide-react';
import type { ComponentProps, ReactNode } from 'react';
import { cn } from '@/lib/cn.ts';

const variants = {
  default: 'border-border bg-card',
  warning: 'bg-warning-muted [&>svg]:text-warning',
  destructive: 'bg-destructive-muted [&>svg]:text-destructive',
};

interface AlertProps extends Omit<ComponentProps<'div'>, 'title'> {
  icon: LucideIcon;
  title: ReactNode;
  variant?: keyof typeof variants;
}

/** Its children stand below the title. Give it `role="alert"` only if it appears by itself. */
export function Alert({ icon: Icon, title, variant = 'default', className, children, ...props }: AlertProps) {
  return (
    <div
      className={cn(
        'grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-1 rounded-lg border border-transparent p-4 text-sm [&>svg]:mt-1 [&>svg]:size-4 [&>*:not(svg)]:col-start-2',
        variants[variant],
        className,
      )}
      {...props}
    >
      <Icon aria-hidden />
      <p dir="auto" className="font-medium break-words">
        {title}
      </p>
      {children}
    </div>
  );
}
