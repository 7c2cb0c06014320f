import { ImageIcon, Info } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { Link } from 'react-router';
import { Alert } from '@/components/ui/alert.tsx';
import { Button } from '@/components/ui/button.tsx';
import { Progress } from '@/components/ui/progress.tsx';
import { cn } from '@/lib/cn.ts';
import { formatCount, formatDuration } from '@/lib/format.ts';
import { useNow } from '@/lib/use-now.ts';
import { sizeOf } from './form-values.ts';
import { aheadText, waitingText } from './place.ts';
import { ResultView } from './result-view.tsx';
import { imageSize, readyText, shortPrompt, type Result } from './results.ts';
import type { Run, RunState } from './run-store.ts';
import { fitSize, frameStyle, gridColumns } from './sizes.ts';
import { runStore, useRunState } from './stores.ts';
import type { Playground } from './use-playground.ts';

/** The images of the form: running, finished, or not asked for yet. */
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

/** For screen readers: each stage and each place in the line, but not each step or second. */
function statusText({ run, left, failure, results, shownId }: RunState): string {
  if (run?.phase === 'disconnected') return 'The connection broke. Looking for the result.';
  if (run?.phase === 'running') return 'The image is being made.';
  if (run?.phase === 'queued') return acceptedText(run);
  if (run?.phase === 'uploading') return 'Your images are uploaded first.';
  if (run !== null) return 'The request is sent.';
  if (left !== null) return 'Stopped waiting. The image will still appear in your history.';
  const shown = results.find(({ requestId }) => requestId === shownId);
  return failure === null && shown !== undefined ? readyText(shown) : '';
}

function acceptedText({ place }: Run): string {
  return place === null ? 'The request is accepted.' : `Waiting: ${aheadText(place)}.`;
}

function LeftNotice({ requestId }: { requestId: string | null }) {
  return (
    <Alert icon={Info} title="You stopped waiting">
      <p className="text-muted-foreground">
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
      </p>
    </Alert>
  );
}

/** Scrolls to a run that begins: on phones it is below the form, and a tall grid may begin above the window. */
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

/** The progress of a run, in the place of its images. */
function RunProgress({ run }: { run: Run }) {
  const { body, progress, identityName } = run;
  const size = imageSize(body);
  const count = body.numOutputs ?? 1;
  const percent = progress === null ? 0 : (progress.step / Math.max(1, progress.steps)) * 100;
  return (
    <div className="mx-auto grid w-full grid-cols-1 gap-4" style={frameStyle(size, count)}>
      <div aria-hidden className={cn('grid gap-2 sm:gap-4', gridColumns(count))}>
        {Array.from({ length: count }, (_, i) => (
          <div
            key={i}
            className="animate-pulse rounded-md bg-secondary"
            style={{ aspectRatio: `${size.width} / ${size.height}` }}
          />
        ))}
      </div>
      <div className="grid gap-2">
        <Progress
          value={percent}
          aria-label={`Progress of ${identityName}`}
          aria-valuetext={stageText(run)}
        />
        <p className="flex justify-between gap-4 tabular-nums">
          <span>{stageText(run)}</span>
          <Elapsed sinceMs={run.startedAtMs} />
        </p>
      </div>
    </div>
  );
}

function stageText({ phase, place, progress }: Run): string {
  if (phase === 'disconnected') return 'The connection broke. Looking for the result.';
  if (phase === 'uploading') return 'Uploading your images';
  if (phase === 'sending') return 'Sending';
  if (phase === 'queued') return place === null ? 'Accepted, waiting for its turn' : waitingText(place);
  return progress === null ? 'Started' : `Step ${progress.step} of ${progress.steps}`;
}

function Elapsed({ sinceMs }: { sinceMs: number }) {
  const nowMs = useNow(100);
  const tenths = Math.max(0, Math.floor((nowMs - sinceMs) / 100));
  const text = tenths < 600 ? `${(tenths / 10).toFixed(1)} s` : formatDuration(tenths * 100);
  return <span className="shrink-0 text-muted-foreground">{text}</span>;
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
function EmptyResult({ playground }: { playground: Playground }) {
  const { values, license, identity, change, form } = playground;
  const size = fitSize(sizeOf(values) ?? { width: 1024, height: 1024 }, license.maxSidePx);
  const offersExamples = license.usable && values.prompt.trim() === '';
  const begin = (prompt: string): void => {
    change({ prompt });
    form.current?.querySelector<HTMLElement>('[name="prompt"]')?.focus();
  };
  return (
    <div
      className="mx-auto flex min-h-80 w-full flex-col items-center justify-center gap-4 rounded-lg border border-dashed border-border p-6 text-center"
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

/** The results of this visit, newest first; each can be brought back. */
function EarlierResults() {
  const { run, results, shownId } = useRunState();
  const currentId = run === null ? shownId : null;
  if (results.every(({ requestId }) => requestId === currentId)) return null;
  return (
    <section aria-labelledby="earlier" className="grid min-w-0 grid-cols-1 gap-2">
      <h2 id="earlier" className="text-base font-semibold">
        Earlier in this visit
      </h2>
      <ul className="-mx-1 flex gap-2 overflow-x-auto p-1">
        {results.map((result) => (
          <li key={result.requestId} className="shrink-0">
            <Thumbnail result={result} shown={result.requestId === currentId} disabled={run !== null} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Thumbnail({ result, shown, disabled }: { result: Result; shown: boolean; disabled: boolean }) {
  const { outputs, body, identity, requestId } = result;
  const { width, height } = imageSize(body);
  const more = outputs.length > 1 ? `, ${formatCount(outputs.length, 'image')}` : '';
  return (
    <button
      type="button"
      disabled={disabled}
      aria-current={shown ? 'true' : undefined}
      aria-label={`Show ${shortPrompt(body.prompt, 60)}, ${identity.name}${more}`}
      title={shortPrompt(body.prompt)}
      onClick={() => runStore.show(requestId)}
      className={cn(
        'relative block h-20 overflow-hidden rounded-md bg-secondary disabled:opacity-60',
        shown && 'ring-2 ring-primary ring-offset-2 ring-offset-background',
      )}
      style={{ aspectRatio: `${width} / ${height}` }}
    >
      <img
        src={outputs[0]}
        alt=""
        referrerPolicy="no-referrer"
        loading="lazy"
        decoding="async"
        className="size-full object-cover"
      />
      {outputs.length > 1 && (
        <span
          aria-hidden
          className="absolute right-1 bottom-1 rounded-sm bg-black/70 px-1 text-xs leading-4 font-medium text-white tabular-nums"
        >
          {outputs.length}
        </span>
      )}
    </button>
  );
}
