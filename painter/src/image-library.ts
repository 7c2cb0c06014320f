import type { SharpConstructor } from 'sharp';

let library: Promise<SharpConstructor> | undefined;

/** Loads sharp at its first use, because that takes a tenth of a second. */
export function imageLibrary(): Promise<SharpConstructor> {
  library ??= import('sharp').then(({ default: sharp }) => {
    // No image is asked for twice, so its cache would only take memory.
    sharp.cache(false);
    return sharp;
  });
  return library;
}
