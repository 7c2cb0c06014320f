import type { SharpConstructor } from 'sharp';

let library: Promise<SharpConstructor> | undefined;

/** sharp takes a tenth of a second to load, which only a request that needs it should pay. */
export function imageLibrary(): Promise<SharpConstructor> {
  library ??= import('sharp').then(({ default: sharp }) => {
    // Its cache would keep images that nobody asks for again.
    sharp.cache(false);
    return sharp;
  });
  return library;
}
