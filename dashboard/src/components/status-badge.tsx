import { CircleCheck, CircleDashed, CircleX, Clock, LoaderCircle } from 'lucide-react';
import type { GenerationStatus } from '@/lib/types.ts';
import { Badge } from './ui/card.tsx';

const badges = {
  QUEUED: { label: 'Queued', variant: 'default', icon: CircleDashed },
  PROCESSING: { label: 'Processing', variant: 'default', icon: LoaderCircle },
  COMPLETED: { label: 'Completed', variant: 'success', icon: CircleCheck },
  FAILED: { label: 'Failed', variant: 'destructive', icon: CircleX },
  TIMEOUT: { label: 'Timed out', variant: 'warning', icon: Clock },
} as const;

/** A status in words, for filters and sentences too. */
export function statusLabel(status: GenerationStatus): string {
  return badges[status].label;
}

export function StatusBadge({ status, className }: { status: GenerationStatus; className?: string }) {
  const { label, variant, icon: Icon } = badges[status];
  return (
    <Badge variant={variant} className={className}>
      <Icon aria-hidden className={status === 'PROCESSING' ? 'size-3 animate-spin' : 'size-3'} />
      {label}
    </Badge>
  );
}
