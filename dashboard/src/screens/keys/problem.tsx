import { CircleAlert } from 'lucide-react';
import { ApiError } from '@/api/api-error.ts';
import { Alert } from '@/components/ui/alert.tsx';

interface ProblemProps {
  error: unknown;
  advise: (error: ApiError) => string | null;
}

/** A refusal inside a dialog: the API's sentence, what to do, and the request's id. */
export function Problem({ error, advise }: ProblemProps) {
  const known = error instanceof ApiError ? error : null;
  const advice = known && advise(known);
  return (
    <Alert
      role="alert"
      variant="destructive"
      icon={CircleAlert}
      title={known?.message ?? 'Something on this page went wrong.'}
    >
      {advice !== null && <p>{advice}</p>}
      {known?.requestId !== undefined && (
        <p className="text-xs">
          Request id <code className="wrap-anywhere">{known.requestId}</code>
        </p>
      )}
    </Alert>
  );
}
