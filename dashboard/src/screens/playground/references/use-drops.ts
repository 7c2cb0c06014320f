import { useEffect, useEffectEvent, useState } from 'react';

export interface Dropped {
  files: File[];
  /** A link or an image of another page. */
  url: string | null;
}

/**
 * Takes files and links that are dropped anywhere on the page. Without it the browser would open them.
 * @returns whether something that can be dropped is being dragged.
 */
export function useDrops(take: (dropped: Dropped) => void): boolean {
  const [dragging, setDragging] = useState(false);
  const onDrop = useEffectEvent(take);
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    let ownLink = false;
    let timer: ReturnType<typeof setTimeout>;
    const end = (): void => {
      clearTimeout(timer);
      setDragging(false);
    };
    const wanted = ({ dataTransfer, target }: DragEvent): DataTransfer | null => {
      const types = dataTransfer?.types ?? [];
      // Ignore links of this page, and links that are dropped into a text field.
      const isLink = types.includes('text/uri-list') && !ownLink && !isTextField(target);
      return types.includes('Files') || isLink ? dataTransfer : null;
    };
    const over = (event: DragEvent): void => {
      const data = wanted(event);
      if (data === null) return;
      event.preventDefault();
      data.dropEffect = 'copy';
      setDragging(true);
      // The event comes several times a second; a drag that ends outside of the page, or by Escape, may say nothing.
      clearTimeout(timer);
      timer = setTimeout(end, 1000);
    };
    const drop = (event: DragEvent): void => {
      end();
      const data = wanted(event);
      if (data === null) return;
      event.preventDefault();
      onDrop({ files: [...data.files], url: linkOf(data) });
    };
    window.addEventListener('dragstart', () => (ownLink = true), { signal });
    window.addEventListener('dragend', () => (ownLink = false), { signal });
    window.addEventListener('dragover', over, { signal });
    window.addEventListener('drop', drop, { signal });
    window.addEventListener('dragleave', ({ relatedTarget }) => relatedTarget === null && end(), { signal });
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, []);
  return dragging;
}

function linkOf(data: DataTransfer): string | null {
  // RFC 2483: one address a line, and comments.
  const lines = data.getData('text/uri-list').split(/\r?\n/);
  return lines.find((line) => line !== '' && !line.startsWith('#')) ?? null;
}

function isTextField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.matches('textarea, input:not([type="file"], [type="radio"])')
  );
}

interface Pasted {
  files: (files: File[]) => void;
  url: (url: string) => void;
}

/** Takes images and https addresses that are pasted, unless they are text for the field that the cursor is in. */
export function usePastes({ files: takeFiles, url: takeUrl }: Pasted): void {
  const onFiles = useEffectEvent(takeFiles);
  const onUrl = useEffectEvent(takeUrl);
  useEffect(() => {
    const paste = (event: ClipboardEvent): void => {
      const { clipboardData: data, target } = event;
      if (data === null) return;
      const files = [...data.files].map(named);
      const text = data.getData('text/plain').trim();
      // Office programs add a picture of a copied text.
      const forField = isTextField(target) && text !== '';
      if (forField || (files.length === 0 && !/^https:\/\/\S+$/i.test(text))) return;
      event.preventDefault();
      if (files.length > 0) onFiles(files);
      else onUrl(text);
    };
    document.addEventListener('paste', paste);
    return () => document.removeEventListener('paste', paste);
  }, []);
}

/** Browsers call every picture without a file `image.png`. */
function named(file: File): File {
  if (!/^image\.\w+$/.test(file.name)) return file;
  return new File([file], file.name.replace('image', 'Pasted image'), { type: file.type });
}
