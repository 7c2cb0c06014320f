import type { GenerationType, OutputFormat } from '../api/types.ts';

export const formatLabels: Record<OutputFormat, string> = { png: 'PNG', webp: 'WebP', jpeg: 'JPEG' };
export const outputFormats = Object.keys(formatLabels) as OutputFormat[];

/** The seed of image `index` (from 0) of a request. With it that image alone can be made again. */
export function outputSeed(seed: number, index: number): number {
  return (seed + index) % 2 ** 32;
}

interface NamedRequest {
  requestId: string;
  identityName: string;
  seed: number;
}

/**
 * `aurora-9c8f2b1d-0-seed42.png`: the identity, the end of the request's id, the number of the image (from 0), and its
 * seed. The beginning of an id is a time, so that of two requests may be equal. The extension is that of the link.
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

export const typeLabels: Record<GenerationType, string> = {
  text_to_image: 'Text to image',
  reference: 'Reference images',
  exact_product: 'Exact product',
};
