import { previewLimits } from '../contracts/model-server.ts';
import { freshFetch } from './fresh-fetch.ts';

/** Nobody who waits for an image should wait much longer for its preview. */
const withinMs = 2000;

/** The preview that a link opens, in base64; null where it can't be had. It never throws: an answer without one is as good. */
export async function readPreview(link: string): Promise<string | null> {
  try {
    const answer = await freshFetch(link, { redirect: 'error', signal: AbortSignal.timeout(withinMs) });
    const isSmall = Number(answer.headers.get('content-length')) <= previewLimits.maxBytes;
    if (answer.status === 200 && isSmall) return Buffer.from(await answer.arrayBuffer()).toString('base64');
    await answer.body?.cancel();
  } catch {
    // The links to the preview and to the image are in the answer all the same.
  }
  return null;
}
