import { Ban } from 'lucide-react';
import { ApiError } from '@/api/api-error.ts';
import { EmptyState, ErrorState } from '@/components/states.tsx';
import { Button } from '@/components/ui/button.tsx';
import type { StoredGeneration } from '@/lib/types.ts';
import { failureText } from './results.ts';
import { mayRepeat } from './run-store.ts';
import { runStore } from './stores.ts';
import { usePlayground } from './use-playground.ts';

/** In place of the images of a run that failed or was cancelled. */
export function RunWithoutImages({ run }: { run: StoredGeneration }) {
  return run.errorCode === 'CANCELLED' ? <CancelledRun run={run} /> : <FailedRun run={run} />;
}

/** @returns a function that sends the run again, as long as its reference images are there. */
function useRepeat(run: StoredGeneration): (() => void) | undefined {
  const { license, repeat } = usePlayground();
  const isWhole = run.type === 'text_to_image' || runStore.sent(run.id) !== undefined;
  return isWhole && license.usable ? () => repeat(run) : undefined;
}

function CancelledRun({ run }: { run: StoredGeneration }) {
  const repeat = useRepeat(run);
  const again = (
    <Button variant="outline" onClick={repeat}>
      Try again
    </Button>
  );
  return (
    <div role="status">
      <EmptyState icon={Ban} title="Cancelled" action={repeat && again}>
        {failureText(run)}
      </EmptyState>
    </div>
  );
}

function FailedRun({ run }: { run: StoredGeneration }) {
  const repeat = useRepeat(run);
  const { id, status, errorCode } = run;
  const sent = runStore.sent(id);
  const error = new ApiError(failureText(run, sent?.command.references), {
    status: errorCode === 'INVALID_PARAMETERS' || errorCode === 'CONTENT_REFUSED' ? 400 : 500,
    code: errorCode ?? status,
    requestId: id,
  });
  return <ErrorState error={error} onRetry={mayRepeat(error) ? repeat : undefined} />;
}
