import { ImageDown, ImagePlus } from 'lucide-react';
import { useId, useRef, type RefObject } from 'react';
import { Field, Label } from '@/components/field.tsx';
import { Button } from '@/components/ui/button.tsx';
import { Input } from '@/components/ui/input.tsx';
import { Switch } from '@/components/ui/switch.tsx';
import { cn } from '@/lib/cn.ts';
import { formatFileSize } from '@/lib/format.ts';
import { Choices } from '../choices.tsx';
import { referenceStore, useReferences } from '../stores.ts';
import { usePlayground } from '../use-playground.ts';
import { ReferenceList } from './reference-list.tsx';
import { referenceLimits, sendable } from './reference.ts';
import { useDrops, usePastes, type Dropped } from './use-drops.ts';

/** Reference images by drop, paste, choice or address, and how they are used. */
export default function ReferencesSection() {
  const { uploadTo, license, shownErrors } = usePlayground();
  const { items, note, announcement } = useReferences();
  const chooser = useRef<HTMLInputElement>(null);
  const address = useRef<HTMLInputElement>(null);
  const add = (files: readonly File[]): void => {
    if (license.usable && files.length > 0) void referenceStore.addFiles(files, uploadTo);
  };
  const offer = (url: string): void => {
    if (!license.usable) return;
    referenceStore.offerUrl(url);
    address.current?.focus();
  };
  const drop = ({ files, url }: Dropped): void => {
    if (files.length > 0) add(files);
    else if (url !== null && license.usable) {
      referenceStore.typeUrl(url);
      referenceStore.addTypedUrl();
    }
  };
  const dragging = useDrops(drop) && license.usable;
  usePastes({ files: add, url: offer });
  const count = sendable(items).length;
  return (
    <fieldset className="grid min-w-0 grid-cols-1 gap-4">
      <legend className="mb-2 flex w-full items-baseline justify-between gap-2 text-sm font-medium">
        Reference images
        <span className="text-xs font-normal text-muted-foreground tabular-nums">
          {count} / {referenceLimits.maxItems}
        </span>
      </legend>
      <div className="grid grid-cols-1 gap-2">
        <DropZone ref={chooser} count={count} error={shownErrors.referenceMode} onFiles={add} />
        {note !== null && <p className="text-xs leading-5 text-warning">{note}</p>}
        <ReferenceList items={items} uploadTo={uploadTo} chooser={chooser} />
      </div>
      <UrlField ref={address} />
      <p className="text-xs leading-5 text-pretty text-muted-foreground">
        What is read of an image is deleted when its request ends. A file that you add can be used for an hour
        and is removed one to two days later.
      </p>
      <ModePicker />
      <p role="status" className="sr-only">
        {announcement}
      </p>
      {dragging && <DropTarget full={count >= referenceLimits.maxItems} />}
    </fieldset>
  );
}

interface DropZoneProps {
  ref: RefObject<HTMLInputElement | null>;
  count: number;
  error: string | undefined;
  onFiles: (files: File[]) => void;
}

/** A native file input that looks like a place to drop files, so that phones offer their camera and photos. */
function DropZone({ ref, count, error, onFiles }: DropZoneProps) {
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

/** Touch screens can't drop or paste. */
function Hint() {
  const limits = `PNG, JPEG or WebP, up to ${formatFileSize(referenceLimits.maxBytes)} each.`;
  return (
    <>
      <span className="pointer-coarse:hidden">Drop, paste or choose them. {limits}</span>
      <span className="hidden pointer-coarse:inline">Choose photos or take one. {limits}</span>
    </>
  );
}

function DropTarget({ full }: { full: boolean }) {
  return (
    <div
      aria-hidden
      className="pointer-events-none absolute inset-0 z-30 rounded-lg border-2 border-dashed border-primary bg-card/90"
    >
      <p className="sticky top-[40dvh] mx-auto flex w-fit flex-col items-center gap-2 px-6 py-16 text-center text-base font-semibold">
        <ImageDown strokeWidth={1.5} className="size-8" />
        {full ? 'Remove an image first' : 'Drop to add'}
      </p>
    </div>
  );
}

function UrlField({ ref }: { ref: RefObject<HTMLInputElement | null> }) {
  const { urlText, urlProblem } = useReferences();
  const add = (): void => {
    referenceStore.addTypedUrl();
    ref.current?.focus();
  };
  return (
    <Field label="Or by address" error={urlProblem}>
      <div className="grid grid-cols-[minmax(0,1fr)_auto] gap-2">
        <Input
          ref={ref}
          inputMode="url"
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          placeholder="https://"
          value={urlText}
          onChange={({ target }) => referenceStore.typeUrl(target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.ctrlKey || event.metaKey) return;
            event.preventDefault();
            add();
          }}
        />
        <Button variant="outline" aria-label="Add the address" onClick={add}>
          Add
        </Button>
      </div>
    </Field>
  );
}

const modes = {
  reference: ['Reference', 'Takes colors and form for a new picture.'],
  exact_product: ['Exact product', 'Keeps your photo’s pixels and sets a scene around them.'],
} as const;

function ModePicker() {
  const { values, change } = usePlayground();
  const id = useId();
  return (
    <>
      <Choices
        legend="How they are used"
        name="reference-mode"
        columns="grid-cols-2"
        options={['reference', 'exact_product'] as const}
        chosen={values.referenceMode}
        onChoose={(referenceMode) => change({ referenceMode })}
        className="flex-col items-stretch justify-start gap-0.5 p-3 text-left"
      >
        {(mode) => (
          <>
            <span className="leading-5 font-medium">{modes[mode][0]}</span>
            <span className="text-xs leading-5 text-pretty text-muted-foreground">{modes[mode][1]}</span>
          </>
        )}
      </Choices>
      <div className="flex items-center justify-between gap-4">
        <div className="grid min-w-0">
          <Label htmlFor={id}>Preserve branding</Label>
          <p id={`${id}-hint`} className="text-xs leading-5 text-pretty text-muted-foreground">
            Keeps logos and lettering where it can.
          </p>
        </div>
        <Switch
          id={id}
          aria-describedby={`${id}-hint`}
          checked={values.preserveBranding}
          onCheckedChange={(preserveBranding) => change({ preserveBranding })}
        />
      </div>
    </>
  );
}
