import { previewLimits } from '../images/previews.ts';
import { FinalAnswer, freshFetch, statusError } from '../base/fresh-fetch.ts';

const tries = 3;
/** For one image of at most some 17 MB, from a bucket of the same region. */
const tryWithinMs = 10_000;
/** Nobody who waits for an image should wait much longer for its preview. */
const previewWithinMs = 2000;

/**
 * Reads an image by its link, whole.
 * @throws when it is not there, is larger than `maxBytes`, or can't be read on a third try either.
 */
export async function readImage(link: string, maxBytes: number): Promise<Buffer> {
  let cause: unknown;
  for (let attempt = 1; attempt <= tries; attempt++) {
    try {
      return await tryToRead(link, maxBytes, tryWithinMs);
    } catch (error) {
      cause = error;
      if (error instanceof FinalAnswer) break;
    }
  }
  throw new Error('an image could not be read', { cause });
}

/** The preview that a link opens, in base64; null where it can't be had. It never throws: an answer without one is as good. */
export async function readPreview(link: string): Promise<string | null> {
  const file = await tryToRead(link, previewLimits.maxBytes, previewWithinMs).catch(() => null);
  return file && file.toString('base64');
}

async function tryToRead(link: string, maxBytes: number, withinMs: number): Promise<Buffer> {
  // A link to the bucket is answered by it, never by another place.
  const answer = await freshFetch(link, { redirect: 'error', signal: AbortSignal.timeout(withinMs) });
  const bytes = Number(answer.headers.get('content-length'));
  if (!answer.ok || answer.body === null || bytes > maxBytes) {
    await answer.body?.cancel();
    throw statusError(answer.status, `a link was answered with status ${answer.status} and ${bytes} bytes`);
  }
  // `arrayBuffer()` would need twice as much memory.
  const image = Buffer.allocUnsafe(bytes);
  let read = 0;
  for await (const chunk of answer.body) {
    image.set(chunk, read);
    read += chunk.length;
  }
  if (read !== bytes) throw new Error(`a link promised ${bytes} bytes and gave ${read}`);
  return image;
}
