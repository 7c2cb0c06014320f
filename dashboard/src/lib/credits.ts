const megapixel = 1_048_576;

/** Credits of a request: one for each started megapixel of each image. */
export function creditCost({
  width,
  height,
  numOutputs,
}: {
  width: number;
  height: number;
  numOutputs: number;
}): number {
  return numOutputs * Math.ceil((width * height) / megapixel);
}
