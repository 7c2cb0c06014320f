import * as z from 'zod/mini';
import { count, described, timestamp } from '../base/answer-fields.ts';

export const licenseStatuses = ['active', 'past_due', 'ended'] as const;
export type LicenseStatus = (typeof licenseStatuses)[number];

/** A license as its owner sees it: an item of GET /licenses. */
export const licenseAnswer = z.object({
  licenseId: z.string(),
  name: described(
    z.string().check(z.minLength(1)),
    "What it is called: at most 64 characters, and unlike the names of the account's other licenses.",
  ),
  tier: described(z.string(), "The tier's label."),
  status: described(
    z.enum(licenseStatuses),
    '`past_due`: a payment is due. The license still works for some days, and is suspended then until it is paid.',
  ),
  usable: described(
    z.boolean(),
    'Whether it generates now and may have keys: active or not long past due, not suspended, with API access, and not past its end.',
  ),
  suspended: z.optional(
    described(
      z.object({
        at: described(timestamp, 'Since when.'),
        reason: described(z.string(), 'Why, in the words of whoever operates the service.'),
      }),
      'Since when and why whoever operates the service lets it do nothing, whatever its status. Absent where it is not suspended.',
    ),
  ),
  apiAccess: described(z.boolean(), 'Whether it may be used by API at all.'),
  foundingCatalog: described(z.boolean(), 'Whether every identity of the founding catalog may be used.'),
  identityIds: described(z.array(z.string()), 'Identities that are granted beside the founding catalog.'),
  creditsLimit: described(count, 'Credits of the present billing period: those that are paid for it.'),
  maxOutputs: described(z.int(), 'The largest `numOutputs` of a request.'),
  maxSidePx: described(z.int(), 'The largest `width` and `height` of a request, in pixels.'),
  maxInFlight: described(z.int(), 'How many of its requests may be waiting or running at a time.'),
  billingPeriodStart: timestamp,
  billingPeriodEnd: described(timestamp, 'When the credits of the next period begin.'),
  activeUntil: described(z.nullable(timestamp), 'When the license ends; null when no end is set.'),
  createdAt: timestamp,
});

/** The answer of GET /licenses. */
export const licenseList = z.object({ licenses: described(z.array(licenseAnswer), 'Oldest first.') });

export type LicenseAnswer = z.infer<typeof licenseAnswer>;
export type LicenseList = z.infer<typeof licenseList>;
