import type Stripe from 'stripe';
import { day, list, newId, ownerId, personal, start } from './stripe-fixtures.ts';

export function line(
  periodEnd: number,
  changes: Partial<Stripe.InvoiceLineItem> = {},
): Stripe.InvoiceLineItem {
  const members: Partial<Stripe.InvoiceLineItem> = {
    id: newId('il'),
    object: 'line_item',
    amount: 4900,
    description: personal[0]!,
    parent: {
      invoice_item_details: null,
      subscription_item_details: {
        invoice_item: null,
        proration: false,
        proration_details: null,
        subscription: 'sub_1SAda',
        subscription_item: 'si_1',
      },
      type: 'subscription_item_details',
    },
    period: { start, end: periodEnd },
    pricing: {
      price_details: { price: 'price_pro', product: 'prod_pro' },
      type: 'price_details',
      unit_amount_decimal: null,
    },
    quantity: 1,
    subscription: 'sub_1SAda',
    ...changes,
  };
  return members as Stripe.InvoiceLineItem;
}

/** Something charged once beside the plan, or the difference when a plan changed. */
export const extraLine = (periodEnd: number, amount: number, proration: boolean) =>
  line(periodEnd, {
    amount,
    parent: {
      invoice_item_details: {
        invoice_item: 'ii_1',
        proration,
        proration_details: null,
        subscription: 'sub_1SAda',
      },
      subscription_item_details: null,
      type: 'invoice_item_details',
    },
  });

export function parentOf(subscriptionId: string): Stripe.Invoice.Parent {
  return {
    quote_details: null,
    subscription_details: { metadata: { ownerId }, subscription: subscriptionId },
    type: 'subscription_details',
  };
}

export const linesOf = (...lines: Stripe.InvoiceLineItem[]) => list('/v1/invoices/in_first/lines', lines);

/** An invoice for a period of `sub_1SAda` that ends after 30 days. */
export function invoice(changes: Partial<Stripe.Invoice> = {}): Stripe.Invoice {
  const members: Partial<Stripe.Invoice> = {
    id: newId('in'),
    object: 'invoice',
    amount_due: 4900,
    amount_paid: 4900,
    billing_reason: 'subscription_cycle',
    created: start,
    customer: 'cus_ada',
    customer_address: null,
    customer_email: personal[1]!,
    customer_name: personal[0]!,
    customer_phone: personal[2]!,
    hosted_invoice_url: `https://invoice.stripe.com/i/${personal[3]}`,
    lines: linesOf(line(start + 30 * day)),
    parent: parentOf('sub_1SAda'),
    period_end: start,
    period_start: start,
    status: 'paid',
    ...changes,
  };
  return members as Stripe.Invoice;
}
