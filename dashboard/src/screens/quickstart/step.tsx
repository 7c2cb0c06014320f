import type { ReactNode } from 'react';
import { Card } from '@/components/ui/card.tsx';
import { cn } from '@/lib/cn.ts';

interface StepProps {
  /** From 1 on. */
  number: number;
  title: string;
  /** Takes half of a wide screen. */
  half?: boolean;
  children: ReactNode;
}

/** One step of the list, an `li`. */
export function Step({ number, title, half = false, children }: StepProps) {
  return (
    <li className={cn('min-w-0', !half && 'xl:col-span-2')}>
      <Card className="grid h-full grid-cols-1 content-start gap-4">
        <h2 className="flex items-baseline gap-3 text-base font-semibold">
          <span aria-hidden className="text-muted-foreground tabular-nums">
            {number}
          </span>
          <span className="sr-only">Step {number}: </span>
          {title}
        </h2>
        {children}
      </Card>
    </li>
  );
}
