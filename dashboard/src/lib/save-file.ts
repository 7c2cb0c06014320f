import { saveFile } from './download.ts';

/** Not every browser has it, and TypeScript does not know it. */
type SaveFilePicker = (options: {
  suggestedName: string;
  types: { description: string; accept: Record<string, string[]> }[];
}) => Promise<FileSystemFileHandle>;

export interface FileTarget {
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
