import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { cn } from '@/lib/cn.ts';

interface EmptyStateProps {
  icon?: LucideIcon;
  title: string;
  /** One or two sentences: why it is empty and what to do. */
  children?: ReactNode;
  /** A button or link. */
  action?: ReactNode;
  className?: string;
}

export function EmptyState({ icon: Icon, title, children, action, className }: EmptyStateProps) {
  return (
    <div
      className={cn(
        'flex flex-col items-center gap-1 rounded-lg border border-dashed border-border px-6 py-16 text-center',
        className,
      )}
    >
      {Icon && <Icon aria-hidden strokeWidth={1.5} className="mb-3 size-8 text-muted-foreground" />}
      <h2 className="text-base font-semibold">{title}</h2>
      {children !== undefined && <p className="max-w-md text-pretty text-muted-foreground">{children}</p>}
      {action !== undefined && <div className="mt-4">{action}</div>}
    </div>
  );
}
