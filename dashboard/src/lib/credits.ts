import { formatCredits } from './format.ts';
import type { LicenseAnswer, UsageStats } from './types.ts';

const megapixel = 1_048_576;

/** Credits of a request: one for each started megapixel of each image. */
export function creditCost({
  width,
  height,
  numOutputs,
}: Record<'width' | 'height' | 'numOutputs', number>): number {
  return numOutputs * Math.ceil((width * height) / megapixel);
}

/** What can still be spent, extra credits too: nothing with a license that is ended or suspended. Never below 0. */
export function creditsLeft(
  { usable }: Pick<LicenseAnswer, 'usable'>,
  { current, limit, extraRemaining = 0 }: UsageStats,
): number {
  return usable ? Math.max(0, limit - current) + extraRemaining : 0;
}

/** Of a request that has ended. */
export function chargedText({ creditsCharged }: { creditsCharged: number }): string {
  return creditsCharged === 0 ? 'Nothing charged' : `${formatCredits(creditsCharged)} charged`;
}
