import {
  Ban,
  CircleX,
  Clock,
  ExternalLink,
  History,
  ImagePlus,
  LoaderCircle,
  Lock,
  RotateCcw,
} from 'lucide-react';
import { useEffect } from 'react';
import { Link } from 'react-router';
import { toast } from 'sonner';
import { isFinal, isGone, useGeneration } from '@/api/queries.ts';
import type { StoredGeneration } from '@/lib/types.ts';
import { CopyButton } from '@/components/copy-button.tsx';
import { DownloadButton } from '@/components/download-button.tsx';
import { SignedImage } from '@/components/pictures.tsx';
import { stateOf, statusLabel } from '@/components/status-badge.tsx';
import { Button, LinkButton, NewTabButton } from '@/components/ui/button.tsx';
import { cn } from '@/lib/cn.ts';
import { chargedText } from '@/lib/credits.ts';
import { formatCount, formatDuration } from '@/lib/format.ts';
import { asReferenceSearch, outputSeed, sourcesOf, thumbnailOf } from '@/lib/outputs.ts';
import { isolated, shorten } from '@/lib/text.ts';
import { fillFromStored } from './fill-form.ts';
import type { RunFacts } from './results.ts';
import { gridColumns, resultSizes } from './sizes.ts';
import { formStore, runStore, useRunState } from './stores.ts';
import { usePlayground } from './use-playground.ts';
import { bringReferences } from './use-prefill.ts';
import { runPath } from './use-start-run.ts';

interface ResultProps {
  run: StoredGeneration;
  /** Fetches the request anew, with new links. @returns them */
  renew: () => Promise<string[]>;
}

/** The images of one generation, as large as the window lets them be. */
export function ResultView({ run, renew }: ResultProps) {
  const { outputs } = run;
  return (
    <ul className={cn('grid gap-x-2 gap-y-4 sm:gap-x-4', gridColumns(outputs.length))}>
      {outputs.map((_, index) => (
        <ResultImage key={index} run={run} renew={renew} index={index} />
      ))}
    </ul>
  );
}

interface ResultImageProps extends ResultProps {
  index: number;
}

function ResultImage({ run, renew, index }: ResultImageProps) {
  const { prompt, outputs, width, height } = run;
  const seed = outputSeed(run.seed, index);
  const which = outputs.length > 1 ? `image ${index + 1}` : 'the image';
  const alt = `${isolated(shorten(prompt, 80))}${outputs.length > 1 ? `, ${index + 1} of ${outputs.length}` : ''}`;
  return (
    <li className="grid min-w-0 content-start gap-1">
      <SignedImage
        {...sourcesOf(run, index)}
        sizes={resultSizes(outputs.length)}
        alt={alt}
        width={width}
        height={height}
        eager
        onReload={() => void renew()}
      />
      <div className="flex min-w-0 flex-wrap items-center justify-between gap-x-2">
        <div className="flex items-center text-xs tabular-nums">
          <span className="mr-1 text-muted-foreground">Seed {seed}</span>
          <CopyButton text={String(seed)} label={`Copy seed ${seed}`} iconOnly />
          <Button
            label={`Use seed ${seed}`}
            title="Use this seed"
            onClick={() => lockSeed(seed)}
            icon={Lock}
          />
        </div>
        <ImageActions run={run} renew={renew} index={index} which={which} />
      </div>
    </li>
  );
}

interface ImageActionsProps extends ResultImageProps {
  which: string;
}

function ImageActions({ run, renew, index, which }: ImageActionsProps) {
  return (
    <div className="flex items-center">
      <NewTabButton
        href={run.outputs[index]}
        label={`Open ${which} in full size, in a new tab`}
        title="Open full size"
        icon={ExternalLink}
      />
      <LinkButton
        to={{ search: asReferenceSearch({ requestId: run.id, index }) }}
        label={`Use ${which} as a reference`}
        title="Use as reference"
        icon={ImagePlus}
      />
      <DownloadButton run={run} index={index} renew={renew} label={`Download ${which}`} title="Download" />
    </div>
  );
}

function lockSeed(seed: number): void {
  formStore.change({ seed: String(seed) });
  toast(`Seed ${seed} is used for the next images.`);
}

interface RunDetailsProps {
  facts: RunFacts;
  stored: StoredGeneration | null;
}

export function RunDetails({ facts, stored }: RunDetailsProps) {
  const { prompt, identityName, identityVersion, width, height, numOutputs } = facts;
  const details = [
    identityName,
    ...(identityVersion === null ? [] : [`Version ${identityVersion}`]),
    `${width} × ${height}`,
    ...(numOutputs > 1 ? [formatCount(numOutputs, 'image')] : []),
    ...(stored === null ? [] : outcome(stored)),
  ];
  return (
    <div className="grid gap-4 border-t border-border pt-4">
      <div className="grid min-w-0 gap-1">
        <p dir="auto" className="line-clamp-3 text-pretty wrap-anywhere">
          {prompt}
        </p>
        <ul className="flex flex-wrap gap-x-4 text-xs leading-5 text-muted-foreground tabular-nums">
          {details.map((detail) => (
            <li key={detail} dir="auto">
              {detail}
            </li>
          ))}
        </ul>
      </div>
      {/* As high before they are there, so that nothing jumps. */}
      <div className="flex min-h-8 flex-wrap gap-2">{stored !== null && <Actions stored={stored} />}</div>
    </div>
  );
}

function Actions({ stored }: { stored: StoredGeneration }) {
  const { license, identities, change, uploadTo } = usePlayground();
  const reuse = (): void => {
    const { values, notes } = fillFromStored(stored, license, identities);
    change(values);
    const identity = identities.find(({ id }) => id === values.identityId);
    const all = [...notes, ...bringReferences(stored, identity, uploadTo)];
    toast('The form has these settings again, with their seed.', { description: all.join(' ') || undefined });
  };
  return (
    <>
      <LinkButton variant="outline" size="sm" to={`/history/${encodeURIComponent(stored.id)}`} icon={History}>
        Open in history
      </LinkButton>
      <Button variant="outline" size="sm" onClick={reuse} icon={RotateCcw}>
        Use these settings
      </Button>
    </>
  );
}

function outcome(stored: StoredGeneration) {
  const { status, type, referenceImagesUsed, processingTimeMs } = stored;
  if (!isFinal(status)) return [];
  const kind = type === 'exact_product' ? 'exact product image' : 'reference image';
  return [
    ...(type === 'text_to_image' ? [] : [formatCount(referenceImagesUsed, kind)]),
    ...(processingTimeMs === null ? [] : [formatDuration(processingTimeMs)]),
    ...(status === 'COMPLETED' ? [chargedText(stored)] : []),
  ];
}

/** The runs of this tab, newest first. Each has an address. */
export function RunStrip({ currentId }: { currentId: string | null }) {
  const { runs } = useRunState();
  if (runs.every((id) => id === currentId)) return null;
  return (
    <section aria-labelledby="runs" className="grid min-w-0 grid-cols-1 gap-2">
      <h2 id="runs" className="text-base font-semibold">
        Runs in this tab
      </h2>
      <ul className="-mx-1 flex gap-2 overflow-x-auto p-1">
        {runs.map((id) => (
          <RunTile key={id} requestId={id} isCurrent={id === currentId} />
        ))}
      </ul>
    </section>
  );
}

function RunTile({ requestId, isCurrent }: { requestId: string; isCurrent: boolean }) {
  const { data, error } = useGeneration(requestId);
  const isMissing = data === undefined && isGone(error);
  useEffect(() => {
    if (isMissing) runStore.drop(requestId);
  }, [isMissing, requestId]);
  if (isMissing) return null;
  return (
    <li className="shrink-0">
      <Link
        to={runPath(requestId)}
        aria-current={isCurrent ? 'page' : undefined}
        aria-label={data === undefined ? 'Show a run' : labelOf(data)}
        title={data && shorten(data.prompt, 80)}
        className={cn(
          'relative flex h-20 flex-col items-center justify-center gap-1 overflow-hidden rounded-md bg-secondary text-xs text-muted-foreground',
          isCurrent && 'ring-2 ring-primary ring-offset-2 ring-offset-background',
        )}
        style={{ aspectRatio: data === undefined ? 1 : `${data.width} / ${data.height}`, minWidth: '5rem' }}
      >
        {data !== undefined && <Picture run={data} />}
      </Link>
    </li>
  );
}

function labelOf(run: StoredGeneration): string {
  const { prompt, identity, outputs } = run;
  const what =
    outputs.length > 1 ? formatCount(outputs.length, 'image') : statusLabel(stateOf(run)).toLowerCase();
  return `Show ${isolated(shorten(prompt, 60))}, ${identity.name}, ${what}`;
}

function Picture({ run }: { run: StoredGeneration }) {
  const { outputs, status } = run;
  if (outputs.length === 0) {
    const state = stateOf(run);
    const Icon = { FAILED: CircleX, TIMEOUT: Clock, CANCELLED: Ban }[state as string] ?? LoaderCircle;
    return (
      <>
        <Icon aria-hidden className={cn('size-4', status === 'PROCESSING' && 'animate-spin')} />
        <span aria-hidden>{statusLabel(state)}</span>
      </>
    );
  }
  return (
    <>
      <img
        src={thumbnailOf(run, 0)}
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
    </>
  );
}
