import { makeZip } from 'client-zip';
import type { StoredGeneration } from './types.ts';
import { fetchPicture } from './download.ts';
import { archivedFileName } from './outputs.ts';

export interface ArchiveJob {
  requests: readonly StoredGeneration[];
  renew: (requestId: string) => Promise<StoredGeneration>;
  /** What the archive may hold, where it is made in memory. */
  maxBytes: number;
  onImage: () => void;
  signal: AbortSignal;
}

export interface Archive {
  stream: ReadableStream<Uint8Array>;
  /** Names of files with why they are not in the archive. Complete when the stream has ended. */
  missing: string[];
}

/** A ZIP of all images. One image at a time is in memory. What is missing stands in its `missing.txt`. */
export function archiveImages(job: ArchiveJob): Archive {
  const missing: string[] = [];
  return { stream: makeZip(entries(job, missing)), missing };
}

async function* entries({ requests, renew, maxBytes, onImage, signal }: ArchiveJob, missing: string[]) {
  let bytes = 0;
  for (const request of requests) {
    const read = readerOf(request, renew);
    for (const [index, link] of request.outputs.entries()) {
      signal.throwIfAborted();
      const name = archivedFileName(request, index, link);
      const image = bytes > maxBytes ? null : await read(index);
      signal.throwIfAborted();
      if (bytes > maxBytes || (image !== null && bytes + image.size > maxBytes)) {
        // Nothing after it is read, so that the archive has no holes that depend on sizes.
        bytes = Infinity;
        missing.push(`${name}: the archive would be too large for this browser`);
      } else if (image === null) {
        missing.push(`${name}: the image could not be loaded`);
      } else {
        bytes += image.size;
        yield { name, input: image, lastModified: new Date(request.completedAt ?? request.createdAt) };
      }
      onImage();
    }
  }
  if (missing.length > 0) {
    yield { name: 'missing.txt', input: `${missing.join('\n')}\n`, lastModified: new Date() };
  }
}

/** Reads a request's images, and asks once for new links. */
function readerOf({ id, outputs }: StoredGeneration, renew: ArchiveJob['renew']) {
  let links = outputs;
  let renewal: Promise<string[]> | undefined;
  const renewOnce = async (): Promise<string[]> => {
    renewal ??= renew(id).then((now) => (now.outputs.length === outputs.length ? now.outputs : outputs));
    return (links = await renewal);
  };
  return async (index: number): Promise<Blob | null> =>
    (await fetchPicture({ outputs: links, index, renew: renewOnce })).blob;
}
