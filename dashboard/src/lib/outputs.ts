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
 * request's id it is the end: the beginning is a time, which neighbours share.
 */
export function outputFileName({ requestId, identityName, seed }: NamedRequest, index: number): string {
  const name = identityName
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}+/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60);
  return `${name || 'image'}-${requestId.slice(-8)}-${index}-seed${outputSeed(seed, index)}.png`;
}
