import { useEffect, useRef, type ReactNode } from 'react';
import { ApiError } from '@/api/api-error.ts';
import { isFinal, isGone, useGeneration, useModelHealth } from '@/api/queries.ts';
import type { StoredGeneration } from '@/lib/types.ts';
import { Loading, Skeleton } from '@/components/loading.tsx';
import { ErrorState, MissingRequest } from '@/components/states.tsx';
import { Progress } from '@/components/ui/progress.tsx';
import { cn } from '@/lib/cn.ts';
import { formatDuration } from '@/lib/format.ts';
import { useNow } from '@/lib/use-now.ts';
import { EmptyResult } from './empty-result.tsx';
import { ResultView } from './result-view.tsx';
import {
  factsOfBody,
  factsOfStored,
  failureText,
  readyText,
  type RunFacts,
  stageText,
  stopText,
  type Stage,
} from './results.ts';
import { RunDetails } from './run-details.tsx';
import { RunStrip } from './run-strip.tsx';
import { frameStyle, gridColumns } from './sizes.ts';
import { mayRepeat } from './run-store.ts';
import { runStore, useRunState } from './stores.ts';
import type { Playground } from './use-playground.ts';

interface ResultPanelProps {
  playground: Playground;
  shown: ShownRun;
}

/** The run of the address. */
export interface ShownRun {
  requestId: string | null;
  /** Whether nobody asked for it: it is the one that was shown last. */
  isOffered: boolean;
}

/** The run that is being sent, the run of the address, or the place where the first one will be. */
export function ResultPanel({ playground, shown: { requestId, isOffered } }: ResultPanelProps) {
  const { sending } = useRunState();
  const place = useScrollToRun(sending === null ? requestId : 'sending', isOffered);
  return (
    <section
      ref={place}
      aria-label="Result"
      // As high as the window at most, and scrolled by itself: its lower end would only be seen at the end of the page.
      className="grid min-w-0 scroll-mt-20 grid-cols-1 content-start gap-6 lg:sticky lg:top-8 lg:-m-2 lg:max-h-[calc(100dvh-4rem)] lg:scroll-mt-10 lg:overflow-y-auto lg:p-2"
    >
      {sending !== null && (
        <Frame facts={factsOfBody(sending.body, sending.identityName, sending.startedAtMs)}>
          {(facts) => (
            <>
              <RunProgress facts={facts} stage={sending.phase} />
              <RunDetails facts={facts} stored={null} playground={playground} />
            </>
          )}
        </Frame>
      )}
      {sending === null && requestId !== null && (
        <Run key={requestId} requestId={requestId} playground={playground} />
      )}
      {sending === null && requestId === null && <EmptyResult playground={playground} />}
      <RunStrip currentId={sending === null ? requestId : null} />
    </section>
  );
}

/** Scrolls to the run: on phones it is below the form, and a tall grid may begin above the window. */
function useScrollToRun(run: string | null, isOffered: boolean) {
  const place = useRef<HTMLElement>(null);
  const before = useRef<string | null>(null);
  useEffect(() => {
    const isSame = run === before.current || before.current === 'sending';
    before.current = run;
    if (run === null || isSame || isOffered || place.current === null) return;
    const beside = matchMedia('(min-width: 1024px)').matches;
    if (beside && place.current.getBoundingClientRect().top >= 0) return;
    // A smooth scroll would stop where it is when the panel changes its height.
    place.current.scrollIntoView({ block: 'start', behavior: 'instant' });
  }, [run, isOffered]);
  return place;
}

function Frame({ facts, children }: { facts: RunFacts; children: (facts: RunFacts) => ReactNode }) {
  return (
    <div
      className="mx-auto grid w-full min-w-0 lg:mx-0 grid-cols-1 gap-6"
      style={frameStyle(facts, facts.numOutputs)}
    >
      {children(facts)}
    </div>
  );
}

function Run({ requestId, playground }: { requestId: string; playground: Playground }) {
  const { data, error, refetch, isFetching } = useGeneration(requestId);
  const isKnown = data !== undefined;
  const isOpen = isKnown && !isFinal(data.status);
  useEffect(() => {
    if (isKnown) runStore.show(requestId, isOpen);
  }, [isKnown, isOpen, requestId]);
  const renew = async (): Promise<string[]> => (await refetch()).data?.outputs ?? data?.outputs ?? [];
  const sent = runStore.sent(requestId);
  if (data !== undefined) {
    return (
      <Frame facts={factsOfStored(data, sent?.startedAtMs)}>
        {(facts) => (
          <>
            <StoredRun run={data} facts={facts} renew={renew} playground={playground} />
            <RunDetails facts={facts} stored={data} playground={playground} />
          </>
        )}
      </Frame>
    );
  }
  if (isGone(error)) return <MissingRequest title="There is no run with this address" />;
  if (error !== null) {
    return <ErrorState error={error} onRetry={() => void refetch()} retrying={isFetching} />;
  }
  if (sent === undefined) {
    return (
      // As high as a phone's window, so that the page can scroll to it.
      <Loading label="Loading the run" className="content-start max-lg:min-h-dvh">
        <Skeleton className="aspect-square max-h-[calc(100dvh-17rem)] w-full" />
      </Loading>
    );
  }
  // Accepted a moment ago.
  return (
    <Frame facts={factsOfBody(sent.command.body, sent.command.identityName, sent.startedAtMs)}>
      {(facts) => (
        <>
          <RunProgress facts={facts} stage="QUEUED" />
          <RunDetails facts={facts} stored={null} playground={playground} />
        </>
      )}
    </Frame>
  );
}

interface StoredRunProps {
  run: StoredGeneration;
  facts: RunFacts;
  renew: () => Promise<string[]>;
  playground: Playground;
}

function StoredRun({ run, facts, renew, playground }: StoredRunProps) {
  const { status, outputs } = run;
  if (!isFinal(status)) return <RunProgress facts={facts} stage={status} />;
  if (outputs.length === 0) return <FailedRun run={run} playground={playground} />;
  return (
    <>
      <p role="status" className="sr-only">
        {readyText(run)}
      </p>
      <ResultView run={run} renew={renew} />
    </>
  );
}

/** It can be repeated as long as its reference images are there. */
function FailedRun({ run, playground }: { run: StoredGeneration; playground: Playground }) {
  const { id, type, status, errorCode } = run;
  const sent = runStore.sent(id);
  const error = new ApiError(failureText(run, sent?.command.references), {
    status: errorCode === 'INVALID_PARAMETERS' ? 400 : 500,
    code: errorCode ?? status,
    requestId: id,
  });
  const isWhole = type === 'text_to_image' || sent !== undefined;
  const mayRetry = isWhole && playground.license.usable && mayRepeat(error);
  return <ErrorState error={error} onRetry={mayRetry ? () => playground.repeat(run) : undefined} />;
}

/** Where a run is, in the place of its images. */
function RunProgress({ facts, stage }: { facts: RunFacts; stage: Stage }) {
  const { width, height, numOutputs, identityName, startedAtMs } = facts;
  const { data: health } = useModelHealth(stage === 'QUEUED');
  const text = stageText(stage, stage === 'QUEUED' ? health : undefined);
  return (
    <div className="grid grid-cols-1 gap-4">
      <p role="status" className="sr-only">
        {text}
      </p>
      <div aria-hidden className={cn('grid gap-2 sm:gap-4', gridColumns(numOutputs))}>
        {Array.from({ length: numOutputs }, (_, i) => (
          <div
            key={i}
            className="animate-pulse rounded-md bg-secondary"
            style={{ aspectRatio: `${width} / ${height}` }}
          />
        ))}
      </div>
      <div className="grid gap-2">
        <Progress value={null} aria-label={`Progress of ${identityName}`} aria-valuetext={text} />
        <p className="flex justify-between gap-4 tabular-nums">
          <span>{text}</span>
          <Elapsed sinceMs={startedAtMs} />
        </p>
        {/* Always two lines, so that nothing jumps. */}
        <p className="min-h-10 text-xs leading-5 text-pretty text-muted-foreground">{stopText(stage)}</p>
      </div>
    </div>
  );
}

function Elapsed({ sinceMs }: { sinceMs: number }) {
  const nowMs = useNow(1000);
  const seconds = Math.max(0, Math.floor((nowMs - sinceMs) / 1000));
  return (
    <span className="shrink-0 text-muted-foreground">
      {seconds === 0 ? '0 s' : formatDuration(seconds * 1000)}
    </span>
  );
}
