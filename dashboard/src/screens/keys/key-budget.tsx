import { CircleX } from 'lucide-react';
import type { KeyAnswer, LicenseAnswer } from '@/lib/types.ts';
import { Badge } from '@/components/ui/badge.tsx';
import { formatUtcDay } from '@/lib/format.ts';
import { budgetOf, statusAt } from './key-view.ts';

interface KeyBudgetProps {
  item: KeyAnswer;
  license: LicenseAnswer | undefined;
  nowMs: number;
}

/** How much of its budget a key has used. */
export function KeyBudget({ item, license, nowMs }: KeyBudgetProps) {
  const { text, barPercent, isUsedUp } = budgetOf(item);
  if (barPercent === null) {
    return (
      <span className="grid text-muted-foreground">
        No budget
        {item.creditsUsed > 0 && <span className="text-xs whitespace-nowrap">{text}</span>}
      </span>
    );
  }
  return (
    <span className="grid gap-1">
      <span className="whitespace-nowrap tabular-nums">{text}</span>
      <span aria-hidden className="h-1 w-full min-w-24 overflow-hidden rounded-full bg-secondary">
        <span
          className={`block h-full rounded-full ${isUsedUp ? 'bg-destructive' : 'bg-primary'}`}
          style={{ width: `${barPercent}%` }}
        />
      </span>
      {isUsedUp && statusAt(item, nowMs) === 'active' && (
        <Badge variant="warning" className="mt-1 justify-self-end [td_&]:justify-self-start">
          <CircleX aria-hidden />
          Used up{license !== undefined && ` until ${formatUtcDay(license.billingPeriodEnd)}`}
        </Badge>
      )}
    </span>
  );
}
