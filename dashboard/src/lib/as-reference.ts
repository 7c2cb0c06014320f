/** A picture of a stored request. `index` is from 0. */
export interface PictureOf {
  requestId: string;
  index: number;
}

/** The playground's query that adds a picture to its reference images. People count from 1. */
export function asReferenceSearch({ requestId, index }: PictureOf): string {
  return `?${new URLSearchParams({ reference: requestId, image: String(index + 1) }).toString()}`;
}

export function readAsReference(parameters: URLSearchParams): PictureOf | null {
  const requestId = parameters.get('reference') ?? '';
  return requestId === '' ? null : { requestId, index: readImageNumber(parameters.get('image')) };
}

/** The index, from 0, for an image's number in an address. The first image for what is no number. */
export function readImageNumber(text: string | null): number {
  return /^[1-9]\d{0,3}$/.test(text ?? '') ? Number(text) - 1 : 0;
}
