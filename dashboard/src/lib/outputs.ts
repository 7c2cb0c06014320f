import type { OutputFormat } from '../api/types.ts';

export const formatLabels: Record<OutputFormat, string> = { png: 'PNG', webp: 'WebP', jpeg: 'JPEG' };
export const outputFormats = Object.keys(formatLabels) as OutputFormat[];

/** The seed that image `index` (from 0) of a request was made with, so that each can be made again by itself. */
export function outputSeed(seed: number, index: number): number {
  return (seed + index) % 2 ** 32;
}

interface NamedRequest {
  requestId: string;
  identityName: string;
  seed: number;
}

/**
 * `aurora-9c8f2b1d-0-seed42.png`: says whose it is, which request's, which of its images (from 0), and its seed. Of the
 * request's id it is the end: the beginning is a time, which neighbours share. The extension is that of the link.
 */
export function outputFileName(
  { requestId, identityName, seed }: NamedRequest,
  index: number,
  link: string,
): string {
  const extension = /\.(png|webp|jpg)$/.exec(new URL(link).pathname)?.[1] ?? 'png';
  const name = identityName
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}+/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60);
  return `${name || 'image'}-${requestId.slice(-8)}-${index}-seed${outputSeed(seed, index)}.${extension}`;
}
