import { useState } from 'react';
import { toast } from 'sonner';
import { outputFileName } from './outputs.ts';

interface DownloadOptions {
  request: { requestId: string; identity: { name: string }; seed: number; outputs: string[] };
  /** Of the image, from 0. */
  index: number;
  /** Signs the request's links anew, because links expire after an hour. */
  renew: () => Promise<string[]>;
}

/**
 * Saves an image for a button. A link to another origin can't have a file name, so the bytes are fetched. If that fails,
 * the link is opened in a new tab.
 */
export function useImageDownload({ request, index, renew }: DownloadOptions) {
  const [pending, setPending] = useState(false);
  const save = async (): Promise<void> => {
    const { requestId, identity, seed, outputs } = request;
    let link = outputs[index]!;
    const fileName = outputFileName({ requestId, identityName: identity.name, seed }, index, link);
    setPending(true);
    let response = await readLink(link);
    if (response !== null && !response.ok) {
      link = (await renew().catch(() => []))[index] ?? link;
      response = await readLink(link);
    }
    const blob = response?.ok ? await response.blob().catch(() => null) : null;
    setPending(false);
    if (blob === null) {
      follow(link, { target: '_blank' });
      toast('The image was opened in a new tab. Save it from there.');
      return;
    }
    saveBlob(blob, fileName);
  };
  return { pending, save: () => void save() };
}

export function saveBlob(blob: Blob, fileName: string): void {
  const objectUrl = URL.createObjectURL(blob);
  follow(objectUrl, { download: fileName });
  // The browser starts to read after this task.
  setTimeout(() => URL.revokeObjectURL(objectUrl), 60_000);
}

/** Null when no answer came. */
export async function readLink(url: string): Promise<Response | null> {
  try {
    // Not from the cache: an <img> puts images there without the headers that let a script read them.
    return await fetch(url, { cache: 'no-store', credentials: 'omit', referrerPolicy: 'no-referrer' });
  } catch {
    return null;
  }
}

function follow(href: string, how: { target?: string; download?: string }): void {
  const anchor = Object.assign(document.createElement('a'), { href, rel: 'noopener noreferrer', ...how });
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
}
