import { CircleAlert } from 'lucide-react';
import { ApiError } from '@/api/api-error.ts';
import { Alert, AlertDescription, AlertTitle } from '@/components/ui/alert.tsx';

interface ProblemProps {
  error: unknown;
  advise: (error: ApiError) => string | null;
}

/** A refusal inside a dialog: the API's sentence, what to do, and the request's id. */
export function Problem({ error, advise }: ProblemProps) {
  const known = error instanceof ApiError ? error : null;
  const advice = known && advise(known);
  return (
    <Alert role="alert" variant="destructive">
      <CircleAlert aria-hidden />
      <AlertTitle className="min-w-0 break-words">
        {known?.message ?? 'Something on this page went wrong.'}
      </AlertTitle>
      {advice !== null && <AlertDescription>{advice}</AlertDescription>}
      {known?.requestId !== undefined && (
        <AlertDescription className="text-xs">
          Request id <code className="break-all">{known.requestId}</code>
        </AlertDescription>
      )}
    </Alert>
  );
}
