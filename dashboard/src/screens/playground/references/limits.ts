import type { referenceLimits as serviceLimits } from '../../../../../shared/contracts/reference-images.ts';

/**
 * What the service takes as a reference image, so that a file is refused before it is sent. The contracts are imported
 * as types only, so the numbers are repeated; a test holds them to the service's.
 */
export const referenceLimits: typeof serviceLimits = {
  maxItems: 4,
  maxBytes: 10 * 1024 * 1024,
  maxPixels: 40_000_000,
  minSidePx: 64,
  maxSidePx: 8192,
  maxUrlCharacters: 2048,
};

/** How long an upload can be used. */
export const uploadLifetimeMs = 3_600_000;
