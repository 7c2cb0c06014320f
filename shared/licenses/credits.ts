import type { ExtraLeft } from './extra-credits.ts';

const megapixel = 1024 * 1024;

/** One credit for each started megapixel of each image. */
export function creditCost(images: { width: number; height: number; numOutputs: number }): number {
  return images.numOutputs * Math.ceil((images.width * images.height) / megapixel);
}

/** Whether a key that has committed so many credits may have more. One without a budget has no limit of its own. */
export function fitsBudget(keyBudget: number | null, committed: number, credits: number): boolean {
  return keyBudget === null || committed + credits <= keyBudget;
}

/**
 * The usage part of a generation's answer. What remains is negative after the limit was lowered below what is used, and where
 * extra credits pay for more.
 */
export function usageBlock(usage: {
  used: number;
  limit: number;
  charged: number;
  periodEndMs: number;
  extra: ExtraLeft | null;
}) {
  return {
    creditsUsed: usage.used,
    creditsLimit: usage.limit,
    creditsRemaining: usage.limit - usage.used,
    ...(usage.extra && { extraRemaining: usage.extra.remaining }),
    creditsCharged: usage.charged,
    periodResetDate: new Date(usage.periodEndMs).toISOString(),
  };
}
