/**
 * What each subscription tier allows. Enterprise has no credits of its own: they are agreed for each license. A license
 * may also have its own `maxInFlight`.
 */
export const tiers = {
  starter: { label: 'Starter', creditsPerMonth: 500, maxOutputs: 1, maxSidePx: 1024, maxInFlight: 10 },
  standard: { label: 'Standard', creditsPerMonth: 1500, maxOutputs: 4, maxSidePx: 2048, maxInFlight: 20 },
  pro: { label: 'Pro', creditsPerMonth: 4000, maxOutputs: 4, maxSidePx: 2048, maxInFlight: 40 },
  enterprise: {
    label: 'Enterprise',
    creditsPerMonth: null,
    maxOutputs: 4,
    maxSidePx: 2048,
    maxInFlight: 100,
  },
} as const satisfies Record<string, Tier>;

export interface Tier {
  label: string;
  creditsPerMonth: number | null;
  maxOutputs: number;
  maxSidePx: number;
  /** Requests that may be QUEUED or PROCESSING at a time. */
  maxInFlight: number;
}

export type TierName = keyof typeof tiers;
