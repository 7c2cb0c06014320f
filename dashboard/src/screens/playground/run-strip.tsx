import { CircleX, Clock, LoaderCircle } from 'lucide-react';
import { useEffect } from 'react';
import { Link } from 'react-router';
import { isGone, useGeneration } from '@/api/queries.ts';
import type { StoredGeneration } from '@/lib/types.ts';
import { statusLabel } from '@/components/status-badge.tsx';
import { cn } from '@/lib/cn.ts';
import { formatCount } from '@/lib/format.ts';
import { thumbnailOf } from '@/lib/outputs.ts';
import { shorten } from '@/lib/text.ts';
import { runStore, useRunState } from './stores.ts';
import { runPath } from './use-start-run.ts';

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

function labelOf({ prompt, identity, outputs, status }: StoredGeneration): string {
  const what = outputs.length > 1 ? formatCount(outputs.length, 'image') : statusLabel(status).toLowerCase();
  return `Show ${shorten(prompt, 60)}, ${identity.name}, ${what}`;
}

function Picture({ run }: { run: StoredGeneration }) {
  const { outputs, status } = run;
  if (outputs.length === 0) {
    const Icon = status === 'FAILED' ? CircleX : status === 'TIMEOUT' ? Clock : LoaderCircle;
    return (
      <>
        <Icon aria-hidden className={cn('size-4', status === 'PROCESSING' && 'animate-spin')} />
        <span aria-hidden>{statusLabel(status)}</span>
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
