import { FileX, ImageOff, Link2, RotateCw, X } from 'lucide-react';
import { useEffect, useState, type MouseEvent, type RefObject } from 'react';
import { Button } from '@/components/ui/button.tsx';
import { Progress } from '@/components/ui/progress.tsx';
import { cn } from '@/lib/cn.ts';
import { formatFileSize } from '@/lib/format.ts';
import type { Size } from '../sizes.ts';
import { referenceStore } from '../stores.ts';
import { referenceName, urlParts, type FileReference, type Reference } from './reference.ts';
import type { Destination } from './reference-store.ts';

interface ReferenceListProps {
  items: readonly Reference[];
  uploadTo: Destination;
  /** Takes the focus when the last one goes. */
  chooser: RefObject<HTMLInputElement | null>;
}

export function ReferenceList({ items, uploadTo, chooser }: ReferenceListProps) {
  if (items.length === 0) return null;
  const remove = (item: Reference, { currentTarget }: MouseEvent<HTMLButtonElement>): void => {
    const row = currentTarget.closest('li');
    const beside = row?.nextElementSibling ?? row?.previousElementSibling;
    (beside?.querySelector<HTMLElement>('[data-remove]') ?? chooser.current)?.focus();
    referenceStore.remove(item.id);
  };
  return (
    <ul aria-label="Added images" className="grid grid-cols-1 gap-2">
      {items.map((item) => (
        <Row key={item.id} item={item} uploadTo={uploadTo} onRemove={(event) => remove(item, event)} />
      ))}
    </ul>
  );
}

interface RowProps {
  item: Reference;
  uploadTo: Destination;
  onRemove: (event: MouseEvent<HTMLButtonElement>) => void;
}

function Row({ item, uploadTo, onRemove }: RowProps) {
  const name = referenceName(item);
  const [shownSize, setShownSize] = useState<Size | null>(null);
  return (
    <li
      className={cn(
        'grid grid-cols-[3.5rem_minmax(0,1fr)_auto] items-center gap-x-3 gap-y-2 rounded-md border border-border p-2',
        problemOf(item) !== null && 'border-destructive',
      )}
    >
      <Thumbnail item={item} onSize={setShownSize} />
      <div className="grid min-w-0 gap-0.5 leading-5">
        <p className="truncate font-medium" title={item.kind === 'url' ? item.url : name}>
          {item.kind === 'url' ? urlParts(item.url).host : name}
        </p>
        <Details item={item} shownSize={shownSize} />
      </div>
      <Button
        data-remove
        label={`Remove ${name}`}
        title="Remove"
        onClick={onRemove}
        className="self-start"
        icon={X}
      />
      <Problem item={item} uploadTo={uploadTo} />
    </li>
  );
}

/** A file's picture. An address is not loaded by the page: only the service goes there. */
function Thumbnail({ item, onSize }: { item: Reference; onSize: (size: Size) => void }) {
  const Icon = item.kind === 'url' ? Link2 : FileX;
  return (
    <div className="flex size-14 items-center justify-center overflow-hidden rounded-sm bg-secondary text-muted-foreground">
      {item.kind === 'file' ? (
        <Preview file={item.file} onSize={onSize} />
      ) : (
        <Icon aria-hidden className="size-5" />
      )}
    </div>
  );
}

/** The browser holds a file for as long as an object URL names it. */
function Preview({ file, onSize }: { file: File; onSize: (size: Size) => void }) {
  const [url, setUrl] = useState<string | null>(null);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    const made = URL.createObjectURL(file);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [file]);
  if (failed) return <ImageOff aria-hidden className="size-5" />;
  if (url === null) return null;
  return (
    <img
      src={url}
      alt=""
      decoding="async"
      onLoad={({ currentTarget: { naturalWidth: width, naturalHeight: height } }) =>
        onSize({ width, height })
      }
      onError={() => setFailed(true)}
      className="size-full object-cover"
    />
  );
}

/** A photo may be stored lying and shown upright: people know the size that they see. */
function Details({ item, shownSize }: { item: Reference; shownSize: Size | null }) {
  const classes = 'truncate text-xs leading-5 text-muted-foreground tabular-nums';
  if (item.kind === 'refused') return <p className={classes}>Not used</p>;
  if (item.kind === 'url') {
    return <p className={classes}>{urlParts(item.url).file || 'Fetched when you generate'}</p>;
  }
  const { file, picture, upload } = item;
  const { width, height } = shownSize ?? { width: picture.widthPx, height: picture.heightPx };
  return (
    <>
      <p className={classes}>
        {formatFileSize(file.size)} · {width} × {height}
      </p>
      {upload.status === 'sending' && (
        <Progress value={upload.share * 100} aria-label={`Upload of ${file.name}`} className="h-1" />
      )}
    </>
  );
}

function problemOf(item: Reference): string | null {
  if (item.problem !== null) return item.problem;
  return item.kind === 'file' && item.upload.status === 'failed' ? item.upload.message : null;
}

function Problem({ item, uploadTo }: { item: Reference; uploadTo: Destination }) {
  const problem = problemOf(item);
  if (problem === null) return null;
  return (
    <div className="col-span-full flex items-center justify-between gap-2">
      <p className="text-xs leading-5 text-pretty wrap-anywhere text-destructive">{problem}</p>
      {item.kind === 'file' && item.upload.status === 'failed' && (
        <RetryButton item={item} uploadTo={uploadTo} />
      )}
    </div>
  );
}

/** Gives the focus to its neighbor before it goes. */
function RetryButton({ item, uploadTo }: { item: FileReference; uploadTo: Destination }) {
  return (
    <Button
      variant="outline"
      size="sm"
      aria-label={`Upload ${item.file.name} again`}
      onClick={({ currentTarget }) => {
        currentTarget.closest('li')?.querySelector<HTMLElement>('[data-remove]')?.focus();
        referenceStore.retry(item.id, uploadTo);
      }}
      icon={RotateCw}
    >
      Try again
    </Button>
  );
}
