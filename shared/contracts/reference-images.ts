/** What a reference image may be, however it arrives: a picture that a model can look at, and nothing else. */
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

export type ReferenceFormat = 'png' | 'jpeg' | 'webp';
