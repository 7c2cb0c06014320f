import { formatNumber } from '../../../lib/format.ts';

/** `2.4 MB`, where a megabyte is 1024 × 1024 bytes, as in limits of files. */
export function formatMegabytes(bytes: number): string {
  if (bytes < 1024 * 1024) return `${formatNumber(Math.ceil(bytes / 1024))} KB`;
  // Rounded up, so that what is above a limit never reads like the limit.
  return `${formatNumber(Math.ceil((bytes / 1024 / 1024) * 10) / 10)} MB`;
}
