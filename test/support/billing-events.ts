import { envelope, sqsRecord } from '../unit/billing/delivery.ts';
import { start, stripeEvent, subscription } from '../unit/billing/stripe-fixtures.ts';

/** Two events of one subscription, in the form of the queue's. */
export function billingEvents(subscriptionId: string): object {
  const types = ['customer.subscription.created', 'customer.subscription.updated'] as const;
  const records = types.map((type, i) => {
    const event = stripeEvent(type, subscription({ id: subscriptionId }), { created: start + i });
    return sqsRecord(`m-${i}`, envelope(event));
  });
  return { Records: records };
}
