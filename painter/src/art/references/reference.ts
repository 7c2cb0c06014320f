/** A reference image as a picture needs it: upright, in sRGB, at the size at which it is used. */
export interface ReferenceImage {
  width: number;
  height: number;
  /** 8-bit RGBA, row by row, alpha not multiplied in. */
  pixels: Uint8Array;
  /** Whether parts of it are transparent, so that its own outline shows. */
  cutOut: boolean;
  /** Lower-case hex of the file it came in. */
  sha256: string;
}

export interface References {
  mode: 'exact_product' | 'reference';
  preserveBranding: boolean;
  images: ReferenceImage[];
}

export interface Size {
  width: number;
  height: number;
}
