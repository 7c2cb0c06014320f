import { ImagePlus } from 'lucide-react';
import { useId, type RefObject } from 'react';
import { cn } from '@/lib/cn.ts';
import { formatMegabytes } from './format-megabytes.ts';
import { referenceLimits } from './limits.ts';

interface DropZoneProps {
  ref: RefObject<HTMLInputElement | null>;
  count: number;
  error: string | undefined;
  onFiles: (files: File[]) => void;
}

/** A native file input that looks like a place to drop files, so that phones offer their camera and photos. */
export function DropZone({ ref, count, error, onFiles }: DropZoneProps) {
  const id = useId();
  const full = count >= referenceLimits.maxItems;
  return (
    <div className="grid gap-1">
      <div
        className={cn(
          'relative flex items-center gap-3 rounded-md border border-dashed border-input p-3 transition-colors has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-ring has-disabled:opacity-50',
          full ? 'border-border' : 'hover:bg-accent',
          error && 'border-destructive',
        )}
      >
        <ImagePlus aria-hidden strokeWidth={1.5} className="size-6 shrink-0 text-muted-foreground" />
        <span className="grid min-w-0 leading-5">
          <label htmlFor={id} className={cn('font-medium', full && 'text-muted-foreground')}>
            {full ? `${count} of ${referenceLimits.maxItems} images` : 'Add images'}
          </label>
          <span id={`${id}-hint`} className="text-xs leading-5 text-pretty text-muted-foreground">
            {full ? 'Remove one to add another.' : <Hint />}
          </span>
        </span>
        <input
          ref={ref}
          id={id}
          type="file"
          multiple
          accept="image/png,image/jpeg,image/webp"
          aria-describedby={cn(`${id}-hint`, error && `${id}-error`)}
          aria-invalid={error ? true : undefined}
          aria-disabled={full || undefined}
          onClick={(event) => full && event.preventDefault()}
          onChange={({ target }) => {
            onFiles([...(target.files ?? [])]);
            // The same file may be chosen again.
            target.value = '';
          }}
          className={cn(
            'absolute inset-0 size-full opacity-0 file:cursor-pointer',
            full ? 'cursor-not-allowed' : 'cursor-pointer',
          )}
        />
      </div>
      {error && (
        <p id={`${id}-error`} className="text-xs leading-5 text-destructive">
          {error}
        </p>
      )}
    </div>
  );
}

/** Fingers drop and paste nothing. */
function Hint() {
  const limits = `PNG, JPEG or WebP, up to ${formatMegabytes(referenceLimits.maxBytes)} each.`;
  return (
    <>
      <span className="pointer-coarse:hidden">Drop, paste or choose them. {limits}</span>
      <span className="hidden pointer-coarse:inline">Choose photos or take one. {limits}</span>
    </>
  );
}
