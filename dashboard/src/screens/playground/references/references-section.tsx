import { useRef } from 'react';
import { referenceStore, useReferences } from '../stores.ts';
import type { Playground } from '../use-playground.ts';
import { DropTarget } from './drop-target.tsx';
import { DropZone } from './drop-zone.tsx';
import { referenceLimits } from './limits.ts';
import { ModePicker } from './mode-picker.tsx';
import { sendable } from './reference.ts';
import { ReferenceList } from './reference-list.tsx';
import { UrlField } from './url-field.tsx';
import { useDrops, type Dropped } from './use-drops.ts';
import { usePastes } from './use-pastes.ts';

/** Reference images by drop, paste, choice or address, and how they are used. */
export default function ReferencesSection({ playground }: { playground: Playground }) {
  const { uploadTo, license, shownErrors } = playground;
  const { items, note, told } = useReferences();
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
      <ModePicker playground={playground} />
      <p role="status" className="sr-only">
        {told}
      </p>
      {dragging && <DropTarget full={count >= referenceLimits.maxItems} />}
    </fieldset>
  );
}
