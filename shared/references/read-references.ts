import { fetchReference, UnusableReference } from './fetcher.ts';
import { putLink, readLink } from '../images/signed-links.ts';
import type { ReferenceSource } from './contract.ts';
import type { Clock } from '../base/clock.ts';
import { inspectImage } from '../images/inspect-image.ts';

/** For all references of a request together, because their caller waits. */
const fetchWithinMs = 5000;
const storeWithinMs = 3000;

const notUploaded =
  'names no file: send one to the url of its upload, within the hour, and use it with a key of the same license';

/**
 * Checks all references at once. If all of them can be used, those with a `putLink` are stored there for the model, byte
 * for byte.
 * @param contact whom the servers may ask about these requests
 * @returns for each reference null, or what is wrong with it, in words for the caller.
 * @throws after a fault of the service itself.
 */
export async function fetchReferences(
  items: ReferenceSource[],
  contact: string | null,
  clock: Clock,
  onProblem: (index: number, error: UnusableReference) => void,
): Promise<(string | null)[]> {
  const budget = clock.timeout(fetchWithinMs);
  const files = new Map<string, Uint8Array>();
  const problems = await Promise.all(
    items.map(async (item, index) => {
      try {
        const file = await fileOf(item, contact, budget);
        if (item.putLink !== null) files.set(item.putLink, file);
        return null;
      } catch (error) {
        if (!(error instanceof UnusableReference)) throw error;
        onProblem(index, error);
        return error.problem;
      }
    }),
  );
  if (problems.every((problem) => problem === null)) {
    const signal = clock.timeout(storeWithinMs);
    await Promise.all([...files].map(([link, bytes]) => putLink(link, bytes, signal)));
  }
  return problems;
}

/** @throws UnusableReference */
async function fileOf(
  item: ReferenceSource,
  contact: string | null,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const bytes = await bytesOf(item, contact, signal);
  const inspection = inspectImage(bytes);
  if ('problem' in inspection) throw new UnusableReference(inspection.problem);
  return bytes;
}

async function bytesOf(
  item: ReferenceSource,
  contact: string | null,
  signal: AbortSignal,
): Promise<Uint8Array> {
  if (item.kind === 'data') return Buffer.from(item.base64, 'base64');
  if (item.kind === 'url') return fetchReference(item.url, contact, signal);
  const bytes = await readLink(item.getLink, signal);
  if (bytes === null) throw new UnusableReference(notUploaded);
  return bytes;
}
