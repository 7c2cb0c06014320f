import { Info } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { Link } from 'react-router';
import { Alert, AlertDescription, AlertTitle } from '@/components/ui/alert.tsx';
import { EarlierResults } from './earlier-results.tsx';
import { EmptyResult } from './empty-result.tsx';
import { ResultView } from './result-view.tsx';
import { readyText } from './results.ts';
import { RunProgress } from './run-progress.tsx';
import type { RunState } from './run-store.ts';
import { useRunState } from './stores.ts';
import type { Playground } from './use-playground.ts';

/** The images: under way, there, or still to come. */
export function ResultPanel({ playground }: { playground: Playground }) {
  const state = useRunState();
  const { run, left, results, shownId } = state;
  const shown = results.find(({ requestId }) => requestId === shownId);
  const place = useScrollOnRun(run !== null);
  return (
    <section
      ref={place}
      aria-label="Result"
      className="grid min-w-0 scroll-mt-20 lg:scroll-mt-10 grid-cols-1 content-start gap-6 lg:sticky lg:top-10"
    >
      <p role="status" className="sr-only">
        {statusText(state)}
      </p>
      {left !== null && <LeftNotice requestId={left.requestId} />}
      {run !== null && <RunProgress run={run} />}
      {run === null && shown !== undefined && (
        <ResultView key={shown.requestId} result={shown} playground={playground} />
      )}
      {run === null && shown === undefined && <EmptyResult playground={playground} />}
      <EarlierResults />
    </section>
  );
}

/** Said to screen readers: each stage once, never each step. */
function statusText({ run, left, failure, results, shownId }: RunState): string {
  if (run?.phase === 'disconnected') return 'The connection broke. Looking for the result.';
  if (run?.phase === 'running') return 'The image is being made.';
  if (run?.phase === 'queued') return 'The request is accepted.';
  if (run?.phase === 'uploading') return 'Your images are uploaded first.';
  if (run !== null) return 'The request is sent.';
  if (left !== null) return 'Stopped waiting. The image will still appear in your history.';
  const shown = results.find(({ requestId }) => requestId === shownId);
  return failure === null && shown !== undefined ? readyText(shown) : '';
}

function LeftNotice({ requestId }: { requestId: string | null }) {
  return (
    <Alert>
      <Info aria-hidden />
      <AlertTitle>You stopped waiting</AlertTitle>
      <AlertDescription className="text-muted-foreground">
        {requestId === null
          ? 'If the request arrived, it will still appear in your '
          : 'It will still appear in your '}
        <Link
          to={requestId === null ? '/history' : `/history/${requestId}`}
          className="font-medium text-foreground underline underline-offset-4"
        >
          history
        </Link>
        .
      </AlertDescription>
    </Alert>
  );
}

/** What was just asked for is brought into sight: on phones it is below the form, and tall grids may begin above the window. */
function useScrollOnRun(running: boolean) {
  const place = useRef<HTMLElement>(null);
  const before = useRef(running);
  useEffect(() => {
    const began = running && !before.current;
    before.current = running;
    if (!began || place.current === null) return;
    const beside = matchMedia('(min-width: 1024px)').matches;
    if (beside && place.current.getBoundingClientRect().top >= 0) return;
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    place.current.scrollIntoView({ block: 'start', behavior: still ? 'auto' : 'smooth' });
  }, [running]);
  return place;
}
