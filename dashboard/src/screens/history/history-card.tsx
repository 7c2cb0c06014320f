import { Images } from 'lucide-react';
import { useId } from 'react';
import { Link } from 'react-router';
import { isFinal } from '@/api/queries.ts';
import type { StoredGeneration } from '@/api/types.ts';
import { SignedImage } from '@/components/signed-image.tsx';
import { StatusBadge, statusLabel } from '@/components/status-badge.tsx';
import { Time } from '@/components/time.tsx';
import { Badge } from '@/components/ui/badge.tsx';
import { formatRelative } from '@/lib/format.ts';
import { thumbnailOf } from '@/lib/outputs.ts';
import { CardCheckbox } from './card-checkbox.tsx';
import { imageCount } from './list-view.ts';
import { requestLinkId } from './use-scroll-restoration.ts';

interface HistoryCardProps {
  generation: StoredGeneration;
  /** Whether it was still running when the list was fetched: its end is read out. */
  wasRunning: boolean;
  /** Whether it is seen before anybody scrolls. */
  eager: boolean;
  nowMs: number;
  /** The query of the list's address, for the way back. */
  listSearch: string;
  onOpen: (requestId: string) => void;
  onReload: () => void;
  /** Null while nothing is selected with checkboxes. */
  choice: CardChoice | null;
}

export interface CardChoice {
  chosen: boolean;
  toggle: (withShift: boolean) => void;
}

export function HistoryCard({ wasRunning, ...props }: HistoryCardProps) {
  const { status, prompt } = props.generation;
  return (
    <>
      {wasRunning && (
        <span role="status" className="sr-only">
          {isFinal(status) ? `${statusLabel(status)}: ${prompt}` : ''}
        </span>
      )}
      <Card {...props} />
    </>
  );
}

function Card({
  generation,
  eager,
  nowMs,
  listSearch,
  onOpen,
  onReload,
  choice,
}: Omit<HistoryCardProps, 'wasRunning'>) {
  const { id, prompt, identity, createdAt, status } = generation;
  const about = useId();
  return (
    <article className="group relative grid content-start gap-2">
      <div id={`${about}-picture`}>
        <Picture generation={generation} eager={eager} onReload={onReload} />
      </div>
      <div className="grid gap-0.5">
        {choice ? (
          <p id={`${about}-prompt`} dir="auto" className="line-clamp-2 leading-5 wrap-anywhere">
            {prompt}
          </p>
        ) : (
          <CardLink {...{ id, prompt, listSearch, onOpen }} describedBy={`${about}-picture ${about}-meta`} />
        )}
        <p
          id={`${about}-meta`}
          className="flex justify-between gap-2 text-xs leading-5 text-muted-foreground"
        >
          <span dir="auto" className="truncate">
            {identity.name}
          </span>
          <Time iso={createdAt} className="shrink-0">
            {formatRelative(createdAt, 'happened', nowMs)}
          </Time>
        </p>
      </div>
      {choice && (
        <CardCheckbox
          checked={choice.chosen}
          disabled={!isFinal(status)}
          labelledBy={`${about}-prompt`}
          describedBy={`${about}-picture ${about}-meta`}
          onToggle={choice.toggle}
        />
      )}
    </article>
  );
}

interface CardLinkProps extends Pick<HistoryCardProps, 'listSearch' | 'onOpen'> {
  id: string;
  prompt: string;
  describedBy: string;
}

/** Covers the card, and a button on the image still works. */
function CardLink({ id, prompt, listSearch, onOpen, describedBy }: CardLinkProps) {
  return (
    <Link
      id={requestLinkId(id)}
      dir="auto"
      to={`/history/${id}`}
      state={{ listSearch }}
      onClick={() => onOpen(id)}
      aria-describedby={describedBy}
      className="line-clamp-2 leading-5 wrap-anywhere after:absolute after:-inset-1 after:rounded-lg focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:outline-ring"
    >
      {prompt}
    </Link>
  );
}

function Picture({
  generation,
  eager,
  onReload,
}: Pick<HistoryCardProps, 'generation' | 'eager' | 'onReload'>) {
  const { outputs, status, width, height } = generation;
  if (outputs.length === 0) return <Placeholder generation={generation} />;
  const count = imageCount(outputs.length);
  return (
    <div className="relative [&_button]:relative [&_button]:z-10">
      {/* The prompt stands below. */}
      <SignedImage
        eager={eager}
        src={thumbnailOf(generation, 0)}
        alt=""
        width={width}
        height={height}
        onReload={onReload}
        className="aspect-square! transition-opacity group-hover:opacity-90"
      />
      {count && (
        <Badge className="absolute top-2 right-2 tabular-nums">
          <Images aria-hidden />
          <span aria-hidden>{count.shown}</span>
          <span className="sr-only">{count.read}</span>
        </Badge>
      )}
      {status !== 'COMPLETED' && <StatusBadge status={status} className="absolute top-2 left-2" />}
    </div>
  );
}

/** Stands where an image would be. */
function Placeholder({ generation: { status, errorMessage } }: Pick<HistoryCardProps, 'generation'>) {
  return (
    <div className="flex aspect-square flex-col gap-2 overflow-hidden rounded-md bg-secondary p-3">
      <StatusBadge status={status} className="bg-card" />
      <p className="line-clamp-4 text-xs leading-5 text-pretty wrap-anywhere text-muted-foreground">
        {isFinal(status) ? (errorMessage ?? 'There is no image.') : runningWords(status)}
      </p>
    </div>
  );
}

function runningWords(status: StoredGeneration['status']): string {
  const what = status === 'QUEUED' ? 'Waiting for its turn.' : 'Being made.';
  return `${what} The image appears here by itself.`;
}
