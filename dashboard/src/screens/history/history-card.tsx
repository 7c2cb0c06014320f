import { Images, Check } from 'lucide-react';
import { useId } from 'react';
import { Link } from 'react-router';
import { isFinal } from '@/api/queries.ts';
import type { StoredGeneration } from '@/lib/types.ts';
import { CancelButton } from '@/components/cancel-button.tsx';
import { SignedImage } from '@/components/pictures.tsx';
import { stateOf, StatusBadge, statusLabel } from '@/components/status-badge.tsx';
import { Time } from '@/components/time.tsx';
import { Badge } from '@/components/ui/card.tsx';
import { thumbnailOf } from '@/lib/outputs.ts';
import { cn } from '@/lib/cn.ts';
import { imageCount } from './list-view.ts';
import { requestLinkId } from './use-scroll-restoration.ts';

interface HistoryCardProps {
  generation: StoredGeneration;
  /** Whether it was still running when the list was fetched: its end is read out. */
  wasRunning: boolean;
  /** Whether it is seen before anybody scrolls. */
  eager: boolean;
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
          {isFinal(status) ? `${statusLabel(stateOf(props.generation))}: ${prompt}` : ''}
        </span>
      )}
      <Card {...props} />
    </>
  );
}

function Card({
  generation,
  eager,
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
          <Time iso={createdAt} relative className="shrink-0" />
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

function Placeholder({ generation }: Pick<HistoryCardProps, 'generation'>) {
  const { id, status, errorMessage } = generation;
  return (
    <div className="flex aspect-square flex-col gap-2 overflow-hidden rounded-md bg-secondary p-3">
      <StatusBadge status={stateOf(generation)} className="bg-card" />
      <p className="line-clamp-4 text-xs leading-5 text-pretty wrap-anywhere text-muted-foreground">
        {isFinal(status) ? (errorMessage ?? 'There is no image.') : runningWords(status)}
      </p>
      {/* Above the link that covers the card. */}
      {!isFinal(status) && <CancelButton requestId={id} className="relative z-10 mt-auto w-fit" />}
    </div>
  );
}

function runningWords(status: StoredGeneration['status']): string {
  const what = status === 'QUEUED' ? 'Waiting for its turn.' : 'Being made.';
  return `${what} The image appears here by itself.`;
}

interface CardCheckboxProps {
  checked: boolean;
  disabled: boolean;
  /** The id of the element that names it. */
  labelledBy: string;
  describedBy: string;
  onToggle: (withShift: boolean) => void;
}

/** Covers its card, so that a click anywhere on it counts, also one with Shift, which Firefox takes on no label. */
function CardCheckbox({ checked, disabled, labelledBy, describedBy, onToggle }: CardCheckboxProps) {
  return (
    <>
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        aria-labelledby={labelledBy}
        aria-describedby={describedBy}
        onChange={(event) => onToggle((event.nativeEvent as MouseEvent).shiftKey)}
        className="absolute -inset-0.75 z-10 m-0 size-[calc(100%+0.375rem)] cursor-pointer appearance-none rounded-lg inset-ring-primary checked:bg-primary/10 checked:inset-ring-2 sm:-inset-1.5 sm:size-[calc(100%+0.75rem)] focus-visible:outline-2 disabled:cursor-not-allowed"
      />
      {/* At the picture's lower right: the other corners may have badges. */}
      <span aria-hidden className="pointer-events-none absolute inset-x-0 top-0 z-10 aspect-square">
        <span
          className={cn(
            'absolute right-2 bottom-2 flex size-6 items-center justify-center rounded-md border-2',
            checked ? 'border-primary bg-primary text-primary-foreground' : 'border-input bg-card',
            disabled && 'opacity-40',
          )}
        >
          {checked && <Check className="size-4" strokeWidth={3} />}
        </span>
      </span>
    </>
  );
}
