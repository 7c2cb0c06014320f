import { fetchReference, UnusableReference } from '../adapters/reference-fetcher.ts';
import { putLink, readLink } from '../adapters/signed-links.ts';
import type { ReferenceSource } from '../contracts/reference-images.ts';
import type { Clock } from '../domain/clock.ts';
import { inspectImage } from '../domain/images/inspect-image.ts';

/** For all references of a request together, because their caller waits. */
const fetchWithinMs = 5000;
const storeWithinMs = 3000;

export const notUploaded =
  'names no file: send one to the url of its upload, within the hour, and use it with a key of the same license';

/**
 * Checks all references at once. Those with a `putLink` are stored there for the model: the picture alone, without
 * metadata.
 * @returns for each reference null, or what is wrong with it, in words for the caller.
 * @throws after a fault of the service itself.
 */
export async function fetchReferences(
  items: ReferenceSource[],
  clock: Clock,
  onProblem: (index: number, error: UnusableReference) => void,
): Promise<(string | null)[]> {
  const budget = clock.timeout(fetchWithinMs);
  return Promise.all(
    items.map(async (item, index) => {
      try {
        const bytes =
          item.kind === 'url' ? await fetchReference(item.url, budget) : await uploaded(item, budget);
        const inspection = await inspectImage(bytes);
        if ('problem' in inspection) throw new UnusableReference(inspection.problem);
        if (item.putLink !== null) {
          await putLink(item.putLink, inspection.image.bytes, clock.timeout(storeWithinMs));
        }
        return null;
      } catch (error) {
        if (!(error instanceof UnusableReference)) throw error;
        onProblem(index, error);
        return error.problem;
      }
    }),
  );
}

async function uploaded(
  { getLink }: Extract<ReferenceSource, { kind: 'upload' }>,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const bytes = await readLink(getLink, signal);
  if (bytes === null) throw new UnusableReference(notUploaded);
  return bytes;
}
