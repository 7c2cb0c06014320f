import type { GenerationStatus, GenerationType } from './generation.ts';

/** How a billing period stands. */
export interface UsageStats {
  /** Credits used. */
  current: number;
  limit: number;
  /** Whole percent of the limit, rounded down; over 100 when the limit was lowered below what is used. */
  percentage: number;
  /** ISO 8601 UTC. */
  billingPeriodStart: string;
  billingPeriodEnd: string;
  /** Started days until the period's end. */
  daysRemaining: number;
  /** The tier's label. */
  tier: string;
}

/** COMPLETED requests and what they were charged. */
export interface UsageTally {
  requests: number;
  credits: number;
}

export interface UsageAggregates {
  /** Every type, those without a request too. */
  byType: Record<GenerationType, UsageTally>;
  /** By the identity's id. */
  byIdentity: Record<string, UsageTally & { name: string; slug: string }>;
  /** Every UTC day of the period until today, those without a request too, oldest first. `date` is `YYYY-MM-DD`. */
  byDay: (UsageTally & { date: string })[];
}

/** An item of `history`: enough for a list; GET /generate/{requestId} has the rest. */
export interface UsageHistoryItem {
  requestId: string;
  type: GenerationType;
  status: GenerationStatus;
  identity: { id: string; name: string; slug: string };
  numOutputs: number;
  creditsCharged: number;
  createdAt: string;
  completedAt: string | null;
}

/** The answer of GET /usage. */
export interface UsageAnswer {
  licenseId: string;
  stats: UsageStats;
  /** The period's newest 20 requests, newest first, whatever became of them. */
  history: UsageHistoryItem[];
  aggregates: UsageAggregates;
}
