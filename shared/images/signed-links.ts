import { referenceLimits } from './image-types.ts';
import { freshFetch } from '../base/fresh-fetch.ts';

/**
 * Reads a file by a signed link of the service's own.
 * @returns null where there is no file, or one that is larger than a reference may be.
 * @throws when the store fails.
 */
export async function readLink(link: string, signal: AbortSignal): Promise<Uint8Array | null> {
  const answer = await freshFetch(link, { signal });
  // S3 answers 403 for a missing object to a role that may not list the bucket, and no function may.
  if (answer.status === 404 || answer.status === 403) {
    await answer.body?.cancel();
    return null;
  }
  if (!answer.ok || answer.body === null) throw new Error(`a link was answered with status ${answer.status}`);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body) {
    bytes += chunk.length;
    if (bytes > referenceLimits.maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes);
}

/** Puts a file to a signed link. @throws when the store refused it. */
export async function putLink(link: string, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
  const answer = await freshFetch(link, {
    method: 'PUT',
    body: bytes as Uint8Array<ArrayBuffer>,
    headers: { 'content-type': 'application/octet-stream' },
    signal,
  });
  await answer.body?.cancel();
  if (!answer.ok) throw new Error(`a link was answered with status ${answer.status}`);
}
