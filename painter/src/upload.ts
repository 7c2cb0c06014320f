import { request as sendHttp } from 'node:http';
import { request as sendHttps } from 'node:https';
import { setTimeout as wait } from 'node:timers/promises';

const WAITS_MS = [150, 600];
const TIMEOUT_MS = 30_000;

/** The image could not be put to its link. The message says why and does not repeat the link. */
export class UploadError extends Error {}

/**
 * Puts an image to a presigned link, with the headers that the link is signed for. Tries three times at most: a refusal (4xx) is final, other failures are not.
 *
 * @throws UploadError, or the signal's reason once it aborts.
 */
export async function uploadImage(
  link: string,
  file: Uint8Array,
  signed: Record<string, string>,
  signal: AbortSignal,
): Promise<void> {
  const headers = { ...signed, 'content-length': file.length };
  for (let attempt = 0; ; attempt += 1) {
    const outcome = await put(link, file, headers, signal);
    signal.throwIfAborted();
    if (outcome === 'done') return;
    const pause = WAITS_MS[attempt];
    if (outcome.final || pause === undefined) throw new UploadError(outcome.why);
    await wait(pause, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

function put(
  link: string,
  file: Uint8Array,
  headers: Record<string, string | number>,
  signal: AbortSignal,
): Promise<'done' | { why: string; final: boolean }> {
  const send = link.startsWith('https:') ? sendHttps : sendHttp;
  return new Promise((resolve) => {
    const failed = (error: NodeJS.ErrnoException): void =>
      resolve({
        why: `The image could not be sent to its link (${error.code ?? error.name}).`,
        final: false,
      });
    const request = send(link, {
      method: 'PUT',
      headers,
      signal,
      timeout: TIMEOUT_MS,
    });
    request.on('timeout', () => request.destroy(new Error('timeout')));
    request.on('error', failed);
    request.on('response', (response) => {
      const status = response.statusCode ?? 0;
      response.on('error', failed);
      // The answer's text is not used, but it must be read before the connection can be used again.
      response.resume().on('end', () => {
        if (status >= 200 && status < 300) resolve('done');
        else resolve({ why: `The image's link answered with HTTP ${status}.`, final: status < 500 });
      });
    });
    request.end(file);
  });
}
