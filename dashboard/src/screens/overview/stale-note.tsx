import { CircleAlert } from 'lucide-react';
import { Alert, AlertDescription, AlertTitle } from '@/components/ui/alert.tsx';

interface StaleNoteProps {
  /** What could not be refreshed: `These figures`. */
  what: string;
  error: Error;
  updatedAtMs: number;
  className?: string;
}

/** What was loaded before stays on the screen when a later look fails. */
export function StaleNote({ what, error, updatedAtMs, className }: StaleNoteProps) {
  const time = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' }).format(updatedAtMs);
  return (
    <Alert role="status" className={className}>
      <CircleAlert aria-hidden />
      <AlertTitle>
        {what} are from {time} and could not be refreshed
      </AlertTitle>
      <AlertDescription className="text-muted-foreground">{error.message}</AlertDescription>
    </Alert>
  );
}
