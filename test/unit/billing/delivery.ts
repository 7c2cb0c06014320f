import type { SQSRecord } from 'aws-lambda';
import type { BillingEvidence } from '../../../shared/billing/evidence.ts';
import { parseRawEvent, readBillingEvent } from '../../../shared/billing/event.ts';
import type { HandledEvent } from './stripe-fixtures.ts';

type Json = Record<string, any>;

/** An event inside EventBridge's envelope, as it lies in the queue. */
export function envelope(event: Json): string {
  const source = 'aws.partner/stripe.com/ed_test_61Qh';
  return JSON.stringify({ version: '0', 'detail-type': event.type, source, detail: event });
}

export function sqsRecord(messageId: string, body: string): SQSRecord {
  return { messageId, receiptHandle: 'receipt', body, eventSource: 'aws:sqs' } as SQSRecord;
}

/** What the function learns from an event, through its envelope. */
export function evidenceOf(event: Json): BillingEvidence | null {
  return readBillingEvent(parseRawEvent(envelope(event)));
}

/** The same event in the shape of the API's versions before 2025-03-31. */
export function older(event: HandledEvent): Json {
  const copy: Json = structuredClone(event);
  const { object, previous_attributes: previous } = copy.data;
  if (object.object === 'subscription') periodsToTheTop(object);
  else invoiceToOldShape(object);
  if (previous) periodsToTheTop(previous);
  return copy;
}

function periodsToTheTop(object: Json): void {
  for (const item of object.items?.data ?? []) {
    object.current_period_end = item.current_period_end;
    delete item.current_period_end;
  }
}

function invoiceToOldShape(object: Json): void {
  object.subscription = object.parent?.subscription_details?.subscription ?? null;
  delete object.parent;
  for (const line of object.lines.data) {
    const { subscription_item_details: plan, invoice_item_details: extra } = line.parent;
    line.type = plan ? 'subscription' : 'invoiceitem';
    line.proration = (plan ?? extra).proration;
    line.price = { id: line.pricing.price_details.price };
    delete line.parent;
    delete line.pricing;
  }
}
