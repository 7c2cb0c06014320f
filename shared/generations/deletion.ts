import { linkMarginSeconds, type Generation } from './generation.ts';

/**
 * A request that was deleted, for as long as an image of it may be in the bucket. It says where to look, and nothing of
 * what was asked for. Times are milliseconds since 1970.
 */
export interface Deletion extends Pick<
  Generation,
  'licenseId' | 'requestId' | 'keyId' | 'numOutputs' | 'outputFormat' | 'referenceImages'
> {
  /** Until then the model's links may still bring an image: of a run that was given up, or that another one overtook. */
  imagesUntilMs: number;
  /** Whether all images were deleted once. Then the deletion was answered, and the request is not found any more. */
  isErased: boolean;
}

/** S3 checks a link when an upload begins. This is for the upload's end, and for clocks that differ a little. */
const uploadMarginSeconds = 60;

export function newDeletion(generation: Generation): Deletion {
  const { licenseId, requestId, keyId, numOutputs, outputFormat, referenceImages } = generation;
  const imagesUntilMs = generation.deadlineMs + (linkMarginSeconds + uploadMarginSeconds) * 1000;
  const of = { licenseId, requestId, keyId, numOutputs, outputFormat, referenceImages };
  return { ...of, imagesUntilMs, isErased: false };
}
