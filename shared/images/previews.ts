/** A preview is a smaller copy of an image, of the same shape, for pages that show many. A smaller image keeps its size. */
export const previewLimits = { maxSidePx: 512, maxBytes: 60_000 };

/** What lies at a preview's link never changes, and a link is for whoever has it. */
export const previewCacheControl = 'private, max-age=31536000, immutable';

const quarterMs = 15 * 60 * 1000;

/** The beginning of the quarter of an hour that an instant is in: links to previews are signed as of then. */
export function quarterOf(ms: number): number {
  return Math.floor(ms / quarterMs) * quarterMs;
}

/** Temporary credentials of AWS, good for an hour from the quarter of an hour on in which they were issued. */
export interface LinkCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string;
}
