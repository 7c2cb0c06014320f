import type Stripe from 'stripe';
import { day, list, newId, ownerId, personal, start } from './stripe-fixtures.ts';

export function line(
  periodEnd: number,
  changes: Partial<Stripe.InvoiceLineItem> = {},
): Stripe.InvoiceLineItem {
  return {
    id: newId('il'),
    object: 'line_item',
    amount: 4900,
    currency: 'eur',
    description: personal[0]!,
    discount_amounts: [],
    discountable: true,
    discounts: [],
    invoice: 'in_first',
    livemode: false,
    metadata: {},
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
    pretax_credit_amounts: [],
    pricing: null,
    quantity: 1,
    quantity_decimal: null,
    subscription: 'sub_1SAda',
    subtotal: 4900,
    taxes: [],
    ...changes,
  };
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

/** An invoice for a period of `sub_1SAda` that ends after 30 days. */
export function invoice(changes: Partial<Stripe.Invoice> = {}): Stripe.Invoice {
  return { ...invoiceDefaults, id: newId('in'), ...changes };
}

const invoiceDefaults: Stripe.Invoice = {
  id: 'in_first',
  object: 'invoice',
  account_country: 'DE',
  account_name: 'Images',
  account_tax_ids: null,
  amount_due: 4900,
  amount_overpaid: 0,
  amount_paid: 4900,
  amount_remaining: 0,
  amount_shipping: 0,
  application: null,
  attempt_count: 1,
  attempted: true,
  automatic_tax: { disabled_reason: null, enabled: false, liability: null, provider: null, status: null },
  automatically_finalizes_at: null,
  billing_reason: 'subscription_cycle',
  collection_method: 'charge_automatically',
  created: start,
  currency: 'eur',
  custom_fields: null,
  customer: 'cus_ada',
  customer_account: null,
  customer_address: null,
  customer_email: personal[1]!,
  customer_name: personal[0]!,
  customer_phone: personal[2]!,
  customer_shipping: null,
  customer_tax_exempt: 'none',
  default_payment_method: null,
  default_source: null,
  default_tax_rates: [],
  description: null,
  discounts: [],
  due_date: null,
  effective_at: start,
  ending_balance: 0,
  footer: null,
  from_invoice: null,
  hosted_invoice_url: `https://invoice.stripe.com/i/${personal[3]}`,
  issuer: { type: 'self' },
  last_finalization_error: null,
  latest_revision: null,
  lines: list('/v1/invoices/in_first/lines', [line(start + 30 * day)]),
  livemode: false,
  metadata: {},
  next_payment_attempt: null,
  number: 'A-0001',
  on_behalf_of: null,
  parent: parentOf('sub_1SAda'),
  payment_settings: { default_mandate: null, payment_method_options: null, payment_method_types: null },
  period_end: start,
  period_start: start,
  post_payment_credit_notes_amount: 0,
  pre_payment_credit_notes_amount: 0,
  receipt_number: null,
  rendering: null,
  shipping_cost: null,
  shipping_details: null,
  starting_balance: 0,
  statement_descriptor: null,
  status: 'paid',
  status_transitions: { finalized_at: start, marked_uncollectible_at: null, paid_at: start, voided_at: null },
  subtotal: 4900,
  subtotal_excluding_tax: 4900,
  test_clock: null,
  total: 4900,
  total_discount_amounts: [],
  total_excluding_tax: 4900,
  total_pretax_credit_amounts: [],
  total_taxes: [],
  webhooks_delivered_at: null,
};

export const linesOf = (...lines: Stripe.InvoiceLineItem[]) => list('/v1/invoices/in_first/lines', lines);
