import { useEffect, useRef, useState } from 'react';
import { ApiError } from '@/api/api-error.ts';
import { ErrorState } from '@/components/error-state.tsx';
import { nameRefusals } from './references/refusals.ts';
import { mayRepeat, waitSeconds, type Failure } from './run-store.ts';
import { useRunState } from './stores.ts';
import type { Playground } from './use-playground.ts';

/** What became of the last run, when it was refused or failed. */
export function RunFailure({ playground }: { playground: Playground }) {
  const { failure } = useRunState();
  if (failure === null) return null;
  return <FailureNotice key={failure.atMs} failure={failure} onRetry={playground.tryAgain} />;
}

function FailureNotice({ failure, onRetry }: { failure: Failure; onRetry: () => void }) {
  const place = useRef<HTMLDivElement>(null);
  const [error] = useState(() => toShow(failure));
  useEffect(() => {
    // In braces: newer browsers answer with a promise, and an effect may only return its cleanup.
    place.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  return (
    <div ref={place} className="scroll-mt-20 scroll-mb-44 px-4 pb-4 sm:px-6 sm:pb-6">
      <ErrorState
        error={error}
        onRetry={mayRepeat(error) ? onRetry : undefined}
        className="bg-background sm:p-4"
      />
    </div>
  );
}

/** Whoever left the screen and comes back waits for the rest only. Images have the names that people gave them. */
function toShow(failure: Failure): unknown {
  const { error, order } = failure;
  if (!(error instanceof ApiError)) return error;
  if (error.code === 'INVALID_PARAMETERS') {
    const { status, code, requestId } = error;
    return new ApiError(nameRefusals(error.message, order.references), { status, code, requestId });
  }
  if (error.code !== 'RATE_LIMITED') return error;
  return new ApiError(error.message, {
    status: error.status,
    code: error.code,
    requestId: error.requestId,
    retryAfterSeconds: waitSeconds(failure, Date.now()),
  });
}
