import { tiers, type Tier } from '../shared/licenses/tiers.ts';

/** The most steps that a request may have. */
export const mostSteps = 50;
/** The steps and the side of the image that `inference.secondsPerMegapixel` is measured with. */
export const measuredSteps = 30;
const measuredSidePx = 1024;

/**
 * How the time of a step grows beyond the number of pixels. The stack does not know which model it has, so this is that of
 * the model server's models with which a large picture takes longest: Z-Image.
 */
const attentionPerMegapixel = 0.14;

/**
 * How much longer an order takes than the measured image. It is the model server's own estimate: steps, and for each
 * megapixels plus their square, for attention. Both are generated with guidance, so its second pass makes no difference.
 * What FLUX.2 [klein] reads of references in each step is not in it.
 */
function sizeOf({ maxOutputs, maxSidePx }: Pick<Tier, 'maxOutputs' | 'maxSidePx'>, steps: number): number {
  const megapixels = maxSidePx ** 2 / 1e6;
  return maxOutputs * steps * (megapixels + attentionPerMegapixel * megapixels ** 2);
}

const measuredSize = sizeOf({ maxOutputs: 1, maxSidePx: measuredSidePx }, measuredSteps);
const sizeByTier = Object.values(tiers).map((tier) => ({
  tier,
  size: sizeOf(tier, mostSteps) / measuredSize,
}));
const largestSize = Math.max(...sizeByTier.map(({ size }) => size));
const largest = sizeByTier.filter(({ size }) => size === largestSize).map(({ tier }) => tier);
const { maxOutputs, maxSidePx } = largest[0]!;
const largestOrder =
  `the largest order of ${largest.map(({ label }) => label).join(', ')} ` +
  `(${maxOutputs} images of ${maxSidePx} × ${maxSidePx} px, ${mostSteps} steps)`;

/** The options that it depends on. */
interface GenerationOptions {
  inference: { kind: 'none' } | { kind: 'existing' | 'endpoint'; secondsPerMegapixel: number | null };
  generationDeadlineSeconds: number;
}

/** About how long the largest order takes that a tier sells, where one image of 1024 × 1024 px takes so long. */
export function largestOrderSeconds(secondsPerMegapixel: number): number {
  return secondsPerMegapixel * largestSize;
}

/**
 * Why the deadline is too short for what is sold; null if it is not, or if nobody has measured how quick the instances are.
 * @param mostSeconds the longest deadline that a configuration may have.
 */
export function deadlineProblem(
  { inference, generationDeadlineSeconds: deadline }: GenerationOptions,
  mostSeconds: number,
): string | null {
  if (inference.kind === 'none' || inference.secondsPerMegapixel === null) return null;
  const { secondsPerMegapixel } = inference;
  const seconds = Math.ceil(largestOrderSeconds(secondsPerMegapixel));
  if (seconds <= deadline) return null;
  return (
    `${deadline} s are ${seconds - deadline} s too few: ${largestOrder} takes about ${seconds} s with ` +
    `inference.secondsPerMegapixel = ${secondsPerMegapixel}. Raise it (${mostSeconds} at most), ` +
    'take faster instances, or sell less in shared/licenses/tiers.ts'
  );
}

/** What is not known of a deployment that has a model whose speed nobody has measured; null if it is known. */
export function unknownGenerationTime({
  inference,
  generationDeadlineSeconds: deadline,
}: GenerationOptions): string | null {
  if (inference.kind === 'none' || inference.secondsPerMegapixel !== null) return null;
  const most = Math.floor((deadline / largestSize) * 100) / 100;
  return (
    `It was not checked whether ${largestOrder} can be generated in ${deadline} s (generationDeadlineSeconds). It can where one ` +
    `image of ${measuredSidePx} × ${measuredSidePx} px takes at most ${most} s: measure it and set inference.secondsPerMegapixel ` +
    '(docs/deploying.md#quick-enough).'
  );
}
