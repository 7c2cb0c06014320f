const megapixel = 1024 * 1024;

/** One credit for each started megapixel of each image. */
export function creditCost(order: { width: number; height: number; numOutputs: number }): number {
  return order.numOutputs * Math.ceil((order.width * order.height) / megapixel);
}

export interface UsageBlock {
  creditsUsed: number;
  creditsLimit: number;
  creditsRemaining: number;
  creditsCharged: number;
  periodResetDate: string;
}

/** The usage part of a generation's answer. The rest is never negative, though a limit may be lowered below what is used. */
export function usageBlock(usage: {
  used: number;
  limit: number;
  charged: number;
  periodEndMs: number;
}): UsageBlock {
  return {
    creditsUsed: usage.used,
    creditsLimit: usage.limit,
    creditsRemaining: Math.max(0, usage.limit - usage.used),
    creditsCharged: usage.charged,
    periodResetDate: new Date(usage.periodEndMs).toISOString(),
  };
}
