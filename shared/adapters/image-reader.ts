import { freshFetch } from './fresh-fetch.ts';

const tries = 3;
/** For one image of at most some 17 MB, from a bucket of the same region. */
const tryWithinMs = 10_000;

/**
 * Reads an image by its link, whole.
 * @throws when it is not there, is larger than `maxBytes`, or can't be read on a third try either.
 */
export async function readImage(link: string, maxBytes: number): Promise<Buffer> {
  let cause: unknown;
  for (let attempt = 1; attempt <= tries; attempt++) {
    try {
      return await tryToRead(link, maxBytes);
    } catch (error) {
      cause = error;
    }
  }
  throw new Error('an image could not be read', { cause });
}

async function tryToRead(link: string, maxBytes: number): Promise<Buffer> {
  const answer = await freshFetch(link, { signal: AbortSignal.timeout(tryWithinMs) });
  const bytes = Number(answer.headers.get('content-length'));
  if (!answer.ok || answer.body === null || bytes > maxBytes) {
    await answer.body?.cancel();
    throw new Error(`a link was answered with status ${answer.status} and ${bytes} bytes`);
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
