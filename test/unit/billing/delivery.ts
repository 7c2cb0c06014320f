import type { SQSRecord } from 'aws-lambda';
import type { BillingEvidence } from '../../../shared/billing/evidence.ts';
import { parseRawEvent, readBillingEvent } from '../../../shared/billing/event.ts';
import type { HandledEvent } from './stripe-fixtures.ts';

type Json = Record<string, any>;

/** An event inside EventBridge's envelope, as it lies in the queue. */
export function envelope(event: { type: string }): string {
  return JSON.stringify({
    version: '0',
    id: '7bf73129-1428-4cd3-a780-95db273d1602',
    'detail-type': event.type,
    source: 'aws.partner/stripe.com/ed_test_61Qh',
    account: '123456789012',
    time: '2026-03-31T10:00:00Z',
    region: 'eu-central-1',
    resources: ['arn:aws:events:eu-central-1::event-source/aws.partner/stripe.com/ed_test_61Qh'],
    detail: event,
  });
}

export function sqsRecord(messageId: string, body: string): SQSRecord {
  return {
    messageId,
    receiptHandle: 'receipt',
    body,
    attributes: {
      ApproximateReceiveCount: '1',
      SentTimestamp: '0',
      SenderId: 'events.amazonaws.com',
      ApproximateFirstReceiveTimestamp: '0',
    },
    messageAttributes: {},
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: 'arn:aws:sqs:eu-central-1:123456789012:billing-events',
    awsRegion: 'eu-central-1',
  };
}

/** What the function learns from an event, through its envelope. */
export function evidenceOf(event: HandledEvent | Json): BillingEvidence | null {
  return readBillingEvent(parseRawEvent(envelope(event as HandledEvent)));
}

/** The same event as versions of the API before 2025-03-31 would tell it. */
export function older(event: HandledEvent): Json {
  const copy: Json = structuredClone(event);
  copy.api_version = '2024-06-20';
  const { object, previous_attributes: previous } = copy.data;
  if (object.object === 'subscription') periodsToTheTop(object);
  else invoiceToOldShape(object);
  if (previous) periodsToTheTop(previous);
  return copy;
}

function periodsToTheTop(object: Json): void {
  for (const item of object.items?.data ?? []) {
    object.current_period_end = item.current_period_end;
    object.current_period_start = item.current_period_start;
    delete item.current_period_end;
    delete item.current_period_start;
  }
}

function invoiceToOldShape(object: Json): void {
  object.subscription = object.parent?.subscription_details?.subscription ?? null;
  delete object.parent;
  for (const line of object.lines.data) {
    const { subscription_item_details: plan, invoice_item_details: extra } = line.parent;
    line.type = plan ? 'subscription' : 'invoiceitem';
    line.proration = (plan ?? extra).proration;
    line.price = { id: line.pricing.price_details.price, object: 'price' };
    delete line.parent;
    delete line.pricing;
  }
}
