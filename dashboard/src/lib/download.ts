export function saveFile(blob: Blob, fileName: string): void {
  const objectUrl = URL.createObjectURL(blob);
  follow(objectUrl, { download: fileName });
  // The browser starts to read after this task.
  setTimeout(() => URL.revokeObjectURL(objectUrl), 60_000);
}

export function saveCsv(csv: string, fileName: string): void {
  saveFile(new Blob([csv], { type: 'text/csv;charset=utf-8' }), fileName);
}

interface FetchOptions {
  outputs: string[];
  /** Of the image, from 0. */
  index: number;
  /** Signs the request's links anew, because links expire after an hour. */
  renew: () => Promise<string[]>;
  signal?: AbortSignal;
}

/** Reads an image. @returns its bytes, null if they can't be read, and the link that was tried last */
export async function fetchPicture(options: FetchOptions): Promise<{ blob: Blob | null; link: string }> {
  const { outputs, index, renew, signal = null } = options;
  const first = outputs[index]!;
  const blob = await readLink(first, signal);
  if (blob !== null) return { blob, link: first };
  const link = (await renew().catch(() => []))[index] ?? first;
  return { blob: await readLink(link, signal), link };
}

async function readLink(url: string, signal: AbortSignal | null): Promise<Blob | null> {
  // Not from the cache: an <img> puts images there without the headers that let a script read them.
  const options = { cache: 'no-store', credentials: 'omit', referrerPolicy: 'no-referrer', signal } as const;
  try {
    const response = await fetch(url, options);
    return response.ok ? await response.blob() : null;
  } catch {
    return null;
  }
}

/** As if somebody clicked a link. */
export function follow(href: string, how: { target?: string; download?: string }): void {
  const anchor = Object.assign(document.createElement('a'), { href, rel: 'noopener noreferrer', ...how });
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
}
