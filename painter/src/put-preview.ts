import { uploadImage } from './upload.ts';

const HEADERS = { 'cache-control': 'private, max-age=31536000, immutable', 'content-type': 'image/webp' };
/** Nobody waits longer for a preview once its picture is finished. */
const LONGEST_MS = 3000;
/** What is left of the deadline after that, so that the answer comes in time. */
const MARGIN_MS = 500;

/**
 * Puts a preview to its link. Never throws: a picture without one is as good.
 * @returns its bytes; undefined where it was not put.
 */
export async function putPreview(
  link: string | null | undefined,
  file: Uint8Array | undefined,
  deadlineMs: number,
  signal: AbortSignal,
): Promise<number | undefined> {
  const timeMs = Math.min(LONGEST_MS, deadlineMs - Date.now() - MARGIN_MS);
  if (typeof link !== 'string' || file === undefined || timeMs <= 0) return undefined;
  try {
    await uploadImage(link, file, HEADERS, AbortSignal.any([signal, AbortSignal.timeout(timeMs)]));
    return file.length;
  } catch {
    return undefined;
  }
}
