import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

export const compress = promisify(gzip);

/** Whether a client names gzip in its Accept-Encoding header. */
export function takesGzip(acceptEncoding: string | string[] | undefined): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(String(acceptEncoding ?? ''));
}
