import { useEffect, useRef, useState } from 'react';

export interface Dropped {
  files: File[];
  /** A link or an image of another page. */
  url: string | null;
}

/**
 * Takes what is dropped anywhere on the page, which the browser would otherwise open in its place.
 * @returns whether something is being dragged that can be dropped.
 */
export function useDrops(take: (dropped: Dropped) => void): boolean {
  const [dragging, setDragging] = useState(false);
  const latest = useRef(take);
  useEffect(() => {
    latest.current = take;
  });
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
      // A link of this page is moved by mistake, and one over a text field is meant for its text.
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
      latest.current({ files: [...data.files], url: linkOf(data) });
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

export function isTextField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.matches('textarea, input:not([type="file"], [type="radio"])')
  );
}
