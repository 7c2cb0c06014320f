import * as z from 'zod';
import { maxPastDueGraceDays } from '../shared/base/config.ts';
import { billingPrices } from '../shared/billing/prices.ts';

/** The options of a deployment whose licenses Stripe's events make. */
export const billing = z.strictObject({
  /** The partner event bus that receives Stripe's events, once it is associated. */
  eventBusName: z
    .string()
    .regex(
      /^aws\.partner\/stripe\.com\/.+$/,
      'must be the name of a Stripe partner event bus, as aws.partner/stripe.com/ed_…',
    ),
  prices: billingPrices,
  /** Whether the bus brings Stripe's real events. False for a deployment of Stripe's sandbox. Others are dropped. */
  livemode: z.boolean().default(true),
  /** How many days a license stays usable after its payment became due. */
  pastDueGraceDays: z.int().min(0).max(maxPastDueGraceDays).default(7),
  /** A secret with a key of Stripe's, to fetch lists that an event cuts off; null: such events fail. */
  stripeKeySecretArn: z
    .string()
    .regex(
      /^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:[\w/+=.@-]+-[A-Za-z0-9]{6}$/,
      'must be the whole ARN of a secret in Secrets Manager, with the six characters at its end',
    )
    .nullable()
    .default(null),
});
