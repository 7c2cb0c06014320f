export function saveFile(blob: Blob, fileName: string): void {
  const objectUrl = URL.createObjectURL(blob);
  follow(objectUrl, { download: fileName });
  // The browser starts to read after this task.
  setTimeout(() => URL.revokeObjectURL(objectUrl), 60_000);
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

/** Not every browser has it, and TypeScript does not know it. */
type SaveFilePicker = (options: {
  suggestedName: string;
  types: { description: string; accept: Record<string, string[]> }[];
}) => Promise<FileSystemFileHandle>;

interface FileTarget {
  /** What may be written to it. */
  maxBytes: number;
  /** @throws when the stream fails or was aborted; nothing is saved then */
  write: (stream: ReadableStream<Uint8Array>) => Promise<void>;
}

/** Without a picker a file is made in memory. Phones have little of it. */
const maxBytesInMemory = 500 * 1024 * 1024;

/**
 * Asks where a ZIP is to be saved, where the browser can write to a file. It must be called at once when somebody presses
 * a button.
 * @returns null when the person chose none
 */
export async function chooseZipFile(suggestedName: string): Promise<FileTarget | null> {
  const { showSaveFilePicker } = window as { showSaveFilePicker?: SaveFilePicker };
  if (showSaveFilePicker === undefined) return inMemory(suggestedName);
  try {
    const types = [{ description: 'ZIP archive', accept: { 'application/zip': ['.zip'] } }];
    const handle = await showSaveFilePicker({ suggestedName, types });
    return {
      maxBytes: Infinity,
      write: async (stream) => stream.pipeTo(await handle.createWritable()),
    };
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return null;
    // A browser's policy may forbid the picker.
    return inMemory(suggestedName);
  }
}

function inMemory(fileName: string): FileTarget {
  return {
    maxBytes: maxBytesInMemory,
    write: async (stream) => {
      const blob = await new Response(stream).blob();
      saveFile(blob.slice(0, blob.size, 'application/zip'), fileName);
    },
  };
}
