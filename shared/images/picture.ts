import { referenceLimits } from './image-types.ts';

/** What was found in a file: the picture's size, and in order the bytes that make it. */
export interface Picture {
  widthPx: number;
  heightPx: number;
  parts: Uint8Array[];
}

/** Thrown by each format's reader and caught by `inspectImage`. Its message is the end of a sentence. */
export class ImageProblem extends Error {}

/** More than any program writes into 10 MiB, and few enough to be held in memory. */
export const maxParts = 20_000;

export function damaged(how: string): ImageProblem {
  return new ImageProblem(`must be undamaged: ${how}`);
}

export function notWhole(): ImageProblem {
  return new ImageProblem('must be whole: a part of it is missing');
}

export function animated(): ImageProblem {
  return new ImageProblem('must not be animated');
}

export function followed(byteCount: number): ImageProblem {
  const follow = byteCount === 1 ? '1 byte follows' : `${byteCount.toLocaleString('en-US')} bytes follow`;
  return new ImageProblem(`must hold one image and nothing else: ${follow} its end`);
}

/** @throws ImageProblem with the size that the image has and the one it may have */
export function checkSize(widthPx: number, heightPx: number): void {
  const { minSidePx, maxSidePx, maxPixels } = referenceLimits;
  if (Math.min(widthPx, heightPx) < minSidePx || Math.max(widthPx, heightPx) > maxSidePx) {
    throw new ImageProblem(
      `must be ${minSidePx} to ${maxSidePx} pixels wide and high; it is ${widthPx} × ${heightPx}`,
    );
  }
  if (widthPx * heightPx > maxPixels) {
    const most = (maxPixels / 1_000_000).toLocaleString('en-US');
    throw new ImageProblem(`must have at most ${most} megapixels; it is ${widthPx} × ${heightPx}`);
  }
}

/** Whether the bytes are an ICC profile as its header says (ICC.1:2022, 7.2): its own length, and the signature "acsp". */
export function isColorProfile(bytes: Uint8Array): boolean {
  if (bytes.length < 132) return false;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return view.getUint32(0) === bytes.length && view.getUint32(36) === 0x61637370;
}
