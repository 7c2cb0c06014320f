import { Ban, CircleCheck, CircleDashed, CircleX, Clock, LoaderCircle, ShieldX } from 'lucide-react';
import type { GenerationStatus, StoredGeneration } from '@/lib/types.ts';
import { Badge } from './ui/card.tsx';

const badges = {
  QUEUED: { label: 'Queued', variant: 'default', icon: CircleDashed },
  PROCESSING: { label: 'Processing', variant: 'default', icon: LoaderCircle },
  COMPLETED: { label: 'Completed', variant: 'success', icon: CircleCheck },
  FAILED: { label: 'Failed', variant: 'destructive', icon: CircleX },
  TIMEOUT: { label: 'Timed out', variant: 'warning', icon: Clock },
  REFUSED: { label: 'Refused', variant: 'warning', icon: ShieldX },
  CANCELLED: { label: 'Cancelled', variant: 'default', icon: Ban },
} as const;

/** What has come of a request. One that somebody cancelled did not fail, nor did one whose content a check refused. */
export function stateOf({ status, errorCode }: Pick<StoredGeneration, 'status' | 'errorCode'>): State {
  if (errorCode === 'CONTENT_REFUSED') return 'REFUSED';
  return errorCode === 'CANCELLED' ? errorCode : status;
}

type State = GenerationStatus | 'CANCELLED' | 'REFUSED';

/** A state in words, for filters and sentences too. */
export function statusLabel(status: State): string {
  return badges[status].label;
}

export function StatusBadge({ status, className }: { status: State; className?: string }) {
  const { label, variant, icon: Icon } = badges[status];
  return (
    <Badge variant={variant} className={className}>
      <Icon aria-hidden className={status === 'PROCESSING' ? 'size-3 animate-spin' : 'size-3'} />
      {label}
    </Badge>
  );
}
