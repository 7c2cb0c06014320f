/** Which types of Stripe's events are read, and as what. All others say nothing of a license. */
export const eventKinds = {
  'customer.subscription.created': 'created',
  'customer.subscription.updated': 'changed',
  'customer.subscription.paused': 'changed',
  'customer.subscription.resumed': 'changed',
  'customer.subscription.deleted': 'deleted',
  'invoice.paid': 'paid',
  'invoice.payment_failed': 'failed',
  'checkout.session.completed': 'checkout',
  'checkout.session.async_payment_succeeded': 'checkout',
  'charge.refunded': 'refunded',
} as const;
