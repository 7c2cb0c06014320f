import { makeZip } from 'client-zip';
import type { StoredGeneration } from './types.ts';
import { fetchPicture } from './download.ts';
import { archivedFileName } from './outputs.ts';
import { requestsCsv } from './requests-csv.ts';

/** A request to save, or why there is none. */
export type Archivable = { id: string; request: StoredGeneration } | { id: string; problem: string };

export interface ArchiveJob {
  requests: AsyncIterable<Archivable>;
  renew: (requestId: string) => Promise<StoredGeneration>;
  signal: AbortSignal;
}

/** Complete when the stream has ended. */
export interface Archive {
  stream: ReadableStream<Uint8Array>;
  /** Ids of the requests that were dealt with: the first ones, as many as the archive has room for. */
  taken: string[];
  /** Why images of a request are missing, by its id. */
  missing: Map<string, string>;
  /** How many images are in it. */
  files: number;
}

/** An archive is made in memory, and phones have little of it. */
const maxBytes = 300 * 1024 * 1024;

/** A ZIP of all images, with their prompts and parameters in `requests.csv`. What is missing stands in its `missing.txt`. */
export function archiveImages(job: ArchiveJob): Archive {
  const archive = { taken: [] as string[], missing: new Map<string, string>(), files: 0 };
  return Object.assign(archive, { stream: makeZip(entries(job, archive)) });
}

async function* entries({ requests, renew, signal }: ArchiveJob, archive: Omit<Archive, 'stream'>) {
  let bytes = 0;
  const saved: StoredGeneration[] = [];
  const problems: string[] = [];
  const miss = (id: string, name: string, problem: string): void => {
    problems.push(`${name}: ${problem}`);
    archive.missing.set(id, problem);
  };
  for await (const one of requests) {
    signal.throwIfAborted();
    archive.taken.push(one.id);
    if ('problem' in one) {
      miss(one.id, one.id, one.problem);
      continue;
    }
    const { request } = one;
    const read = readerOf(request, renew);
    for (const [index, link] of request.outputs.entries()) {
      const name = archivedFileName(request, index, link);
      const image = await read(index);
      signal.throwIfAborted();
      if (image === null) miss(one.id, name, 'the image could not be loaded');
      else {
        bytes += image.size;
        archive.files += 1;
        yield { name, input: image, lastModified: new Date(request.completedAt ?? request.createdAt) };
      }
    }
    saved.push(request);
    if (bytes > maxBytes) break;
  }
  const text = (name: string, input: string) => ({ name, input, lastModified: new Date() });
  if (saved.length > 0) yield text('requests.csv', requestsCsv(saved));
  if (problems.length > 0) yield text('missing.txt', `${problems.join('\n')}\n`);
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
