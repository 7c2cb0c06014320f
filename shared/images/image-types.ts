/** What a request's images are stored as. */
export const outputFormats = ['png', 'webp', 'jpeg'] as const;

export type OutputFormat = (typeof outputFormats)[number];

export type ReferenceFormat = 'png' | 'jpeg' | 'webp';

/** The limits of a reference image, whether it comes by URL or as an upload. */
export const referenceLimits = {
  /** Per request. */
  maxItems: 4,
  maxBytes: 10 * 1024 * 1024,
  /** Decoded: a small file can hold a huge picture. */
  maxPixels: 40_000_000,
  minSidePx: 64,
  maxSidePx: 8192,
  maxUrlCharacters: 2048,
} as const;
