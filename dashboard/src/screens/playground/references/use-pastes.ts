import { useEffect, useRef } from 'react';
import { isTextField } from './use-drops.ts';

interface Pasted {
  files: (files: File[]) => void;
  url: (url: string) => void;
}

/** Takes images and https addresses that are pasted, unless they are text for the field that the cursor is in. */
export function usePastes(take: Pasted): void {
  const latest = useRef(take);
  useEffect(() => {
    latest.current = take;
  });
  useEffect(() => {
    const paste = (event: ClipboardEvent): void => {
      const { clipboardData: data, target } = event;
      if (data === null) return;
      const files = [...data.files].map(named);
      const text = data.getData('text/plain').trim();
      // Office programs copy a picture of the text beside it.
      const forField = isTextField(target) && text !== '';
      if (forField || (files.length === 0 && !/^https:\/\/\S+$/i.test(text))) return;
      event.preventDefault();
      if (files.length > 0) latest.current.files(files);
      else latest.current.url(text);
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
