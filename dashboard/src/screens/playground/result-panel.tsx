import { ImageIcon } from 'lucide-react';
import { useEffect, useRef, type ReactNode } from 'react';
import { isFinal, useGeneration, useModelHealth } from '@/api/queries.ts';
import type { StoredGeneration } from '@/lib/types.ts';
import { CancelButton } from '@/components/cancel-button.tsx';
import { Loading } from '@/components/loading.tsx';
import { Loaded, MissingRequest } from '@/components/states.tsx';
import { Button } from '@/components/ui/button.tsx';
import { Progress } from '@/components/ui/progress.tsx';
import { cn } from '@/lib/cn.ts';
import { formatDuration } from '@/lib/format.ts';
import { useNow } from '@/lib/use-now.ts';
import { sizeOf } from './form-values.ts';
import { ResultView, RunDetails, RunStrip } from './result-view.tsx';
import {
  factsOfBody,
  factsOfStored,
  readyText,
  type RunFacts,
  stageText,
  stopText,
  type Stage,
} from './results.ts';
import { fitSize, frameStyle, gridColumns } from './sizes.ts';
import { RunWithoutImages } from './run-without-images.tsx';
import { runStore, useRunState } from './stores.ts';
import { usePlayground } from './use-playground.ts';

export interface ShownRun {
  requestId: string | null;
  /** Whether nobody asked for it: it is the one that was shown last. */
  isOffered: boolean;
}

/** The run that is being sent, the run of the address, or the place where the first one will be. */
export function ResultPanel({ shown: { requestId, isOffered } }: { shown: ShownRun }) {
  const { sending } = useRunState();
  const place = useScrollToRun(sending === null ? requestId : 'sending', isOffered);
  return (
    <section
      ref={place}
      aria-label="Result"
      tabIndex={-1}
      // As high as the window at most, and scrolled by itself: its lower end would only be seen at the end of the page.
      className="grid min-w-0 scroll-mt-20 grid-cols-1 content-start gap-6 lg:sticky lg:top-8 lg:-m-2 lg:max-h-[calc(100dvh-4rem)] lg:scroll-mt-10 lg:overflow-y-auto lg:p-2"
    >
      {sending !== null && (
        <SentRun
          facts={factsOfBody(sending.body, sending.identityName, sending.startedAtMs)}
          stage={sending.phase}
        />
      )}
      {sending === null && requestId !== null && <Run key={requestId} requestId={requestId} />}
      {sending === null && requestId === null && <EmptyResult />}
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

function Frame({ facts, children }: { facts: RunFacts; children: ReactNode }) {
  return (
    <div
      className="mx-auto grid w-full min-w-0 lg:mx-0 grid-cols-1 gap-6"
      style={frameStyle(facts, facts.numOutputs)}
    >
      {children}
    </div>
  );
}

function Run({ requestId }: { requestId: string }) {
  const query = useGeneration(requestId);
  const { data, error, refetch } = query;
  const isKnown = data !== undefined;
  const isOpen = isKnown && !isFinal(data.status);
  useEffect(() => {
    if (isKnown) runStore.show(requestId, isOpen);
  }, [isKnown, isOpen, requestId]);
  const renew = async (): Promise<string[]> => (await refetch()).data?.outputs ?? data?.outputs ?? [];
  const sent = runStore.sent(requestId);
  if (data === undefined && error === null && sent !== undefined) {
    // Accepted a moment ago.
    return (
      <SentRun
        facts={factsOfBody(sent.command.body, sent.command.identityName, sent.startedAtMs)}
        stage="QUEUED"
        requestId={requestId}
      />
    );
  }
  return (
    <Loaded
      query={query}
      skeleton={
        // As high as a phone's window, so that the page can scroll to it.
        <Loading
          label="Loading the run"
          className="content-start max-lg:min-h-dvh"
          bars={['aspect-square max-h-[calc(100dvh-17rem)] w-full']}
        />
      }
      missing={<MissingRequest title="There is no run with this address" />}
    >
      {(run) => {
        const facts = factsOfStored(run, sent?.startedAtMs);
        return (
          <Frame facts={facts}>
            <StoredRun run={run} facts={facts} renew={renew} />
            <RunDetails facts={facts} stored={run} />
          </Frame>
        );
      }}
    </Loaded>
  );
}

/** A run of which nothing is stored yet, as far as this page knows. */
function SentRun({ facts, ...progress }: RunProgressProps) {
  return (
    <Frame facts={facts}>
      <RunProgress facts={facts} {...progress} />
      <RunDetails facts={facts} stored={null} />
    </Frame>
  );
}

interface StoredRunProps {
  run: StoredGeneration;
  facts: RunFacts;
  renew: () => Promise<string[]>;
}

function StoredRun({ run, facts, renew }: StoredRunProps) {
  const { id, status, outputs } = run;
  if (!isFinal(status)) return <RunProgress facts={facts} stage={status} requestId={id} />;
  if (outputs.length === 0) return <RunWithoutImages run={run} />;
  return (
    <>
      <p role="status" className="sr-only">
        {readyText(run)}
      </p>
      <ResultView run={run} renew={renew} />
    </>
  );
}

interface RunProgressProps {
  facts: RunFacts;
  stage: Stage;
  /** Once it is accepted. */
  requestId?: string;
}

function RunProgress({ facts, stage, requestId }: RunProgressProps) {
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
        <div className="flex items-start justify-between gap-4">
          <p className="min-h-10 text-xs leading-5 text-pretty text-muted-foreground">{stopText(stage)}</p>
          {requestId !== undefined && <CancelButton requestId={requestId} />}
        </div>
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

const examples = [
  'A calm night over the mountains, first snow on the ridge',
  'Morning fog lifting from a quiet bay, soft light',
  'A single tree on a hill under a wide evening sky',
];

const productExamples = [
  'On an old wooden table by the window, morning light',
  'On a plinth of pale stone, one soft shadow',
  'Beside ripe lemons on a linen cloth',
];

/** Shown before the first image: its place in its shape, and example prompts. */
function EmptyResult() {
  const { values, license, identity, change, form } = usePlayground();
  const size = fitSize(sizeOf(values) ?? { width: 1024, height: 1024 }, license.maxSidePx);
  const offersExamples = license.usable && values.prompt.trim() === '';
  const begin = (prompt: string): void => {
    change({ prompt });
    form.current?.querySelector<HTMLElement>('[name="prompt"]')?.focus();
  };
  return (
    // Its shape is that of the image, and it grows with its text: a minimum height would let the text run out of it.
    <div
      className="mx-auto flex w-full lg:mx-0 flex-col items-center justify-center gap-4 rounded-lg border border-dashed border-border p-6 text-center"
      style={{ ...frameStyle(size, 1), aspectRatio: `${size.width} / ${size.height}` }}
    >
      <ImageIcon aria-hidden strokeWidth={1.5} className="size-8 shrink-0 text-muted-foreground" />
      <div className="grid gap-1">
        <h2 className="text-base font-semibold">
          {license.usable ? 'Your image will appear here' : 'Nothing to generate with'}
        </h2>
        <p className="max-w-sm text-pretty text-muted-foreground">
          {helpText(license.usable, offersExamples)}
        </p>
      </div>
      {offersExamples && (
        <ul className="grid w-full max-w-md gap-2">
          {(identity?.productPhotos ? productExamples : examples).map((prompt) => (
            <li key={prompt}>
              <Button
                variant="outline"
                onClick={() => begin(prompt)}
                className="h-auto min-h-10 w-full py-2 text-left font-normal whitespace-normal"
              >
                {prompt}
              </Button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function helpText(usable: boolean, offersExamples: boolean): string {
  if (!usable) return 'This license makes no images now. Those that it made are in your history.';
  return offersExamples
    ? 'Write a prompt, or begin with one of these. Whatever you make is kept in your history.'
    : 'Choose a size and generate. Whatever you make is kept in your history.';
}
