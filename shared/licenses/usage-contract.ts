import * as z from 'zod/mini';
import { count, described, requestId, timestamp } from '../base/answer-fields.ts';
import { generationStatuses, generationTypes } from '../base/generation-kinds.ts';

/** In answers that tell how a period stands. */
export const extraRemaining = z.optional(
  described(
    count,
    "What is left of extra credits: given by the operator, or bought once. They are used after the period's own. What running requests hold is not in it. Left out where there are none.",
  ),
);

/** How a billing period stands. */
const usageStats = z.object({
  current: described(count, 'Credits used in the period, extra ones included.'),
  limit: described(count, 'Credits of a period.'),
  percentage: described(
    count,
    'Whole percent of the limit, rounded down; over 100 when the limit was lowered below what is used, or extra credits pay for more.',
  ),
  extraRemaining,
  extraExpiresAt: z.optional(described(timestamp, 'When the first of the extra credits expire.')),
  billingPeriodStart: timestamp,
  billingPeriodEnd: described(timestamp, 'When the credits of the next period begin.'),
  daysRemaining: described(count, "Days until the period's end, counting the one that has begun."),
  tier: described(z.string(), "The tier's label."),
});

const usageTally = z.object({
  requests: described(count, 'Requests that completed.'),
  credits: described(count, 'What they were charged.'),
});

const namedTally = z.object({ ...usageTally.shape, name: z.string(), slug: z.string() });

const keyTally = z.object({ ...usageTally.shape, name: z.string() });

const dayTally = z.object({
  ...usageTally.shape,
  date: described(z.string().check(z.regex(/^\d{4}-\d{2}-\d{2}$/), z.meta({ format: 'date' })), 'A UTC day.'),
});

const usageAggregates = z.object({
  byType: described(
    z.record(z.enum(generationTypes), usageTally),
    'Every type, those without a request too.',
  ),
  byIdentity: described(z.record(z.string(), namedTally), "By the identity's ID."),
  byKey: described(
    z.record(z.string(), keyTally),
    "By the key's ID, and `playground` for the playground. Requests that were accepted before keys were counted are in none.",
  ),
  byDay: described(
    z.array(dayTally),
    'Every UTC day of the period until today, those without a request too, oldest first.',
  ),
});

/** A request in a list. GET /generate/{requestId} has all of it. */
const usageHistoryItem = z.object({
  requestId,
  type: z.enum(generationTypes),
  status: z.enum(generationStatuses),
  identity: z.object({ id: z.string(), name: z.string(), slug: z.string() }),
  numOutputs: z.int(),
  creditsCharged: described(count, '0 unless the request completed.'),
  createdAt: timestamp,
  completedAt: described(z.nullable(timestamp), 'When it ended, however it ended; null until then.'),
});

/** The answer of GET /usage. */
export const usageAnswer = z.object({
  licenseId: z.string(),
  stats: usageStats,
  history: described(
    z.array(usageHistoryItem),
    "The license's newest 20 requests, newest first, whatever became of them and whatever their period.",
  ),
  aggregates: described(usageAggregates, 'What the period counts of requests that completed.'),
});

export type UsageStats = z.infer<typeof usageStats>;
export type UsageTally = z.infer<typeof usageTally>;
export type UsageAggregates = z.infer<typeof usageAggregates>;
export type UsageHistoryItem = z.infer<typeof usageHistoryItem>;
export type UsageAnswer = z.infer<typeof usageAnswer>;
