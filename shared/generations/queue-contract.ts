import * as z from 'zod/mini';
import { readTraceparent, traceFields } from '../base/trace-context.ts';

/** A stored request. Nothing else of it is sent: its prompt stays in the table. */
export const generationRef = z.object({
  licenseId: z.string().check(z.regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/)),
  requestId: z
    .string()
    .check(z.regex(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)),
});

export type GenerationRef = z.infer<typeof generationRef>;

/** What the queue holds of it. The trace that it is part of is here and not in its record, which it would make larger. */
const queuedGeneration = z.object({
  ...generationRef.shape,
  traceparent: z.optional(z.string().check(z.refine((text) => readTraceparent(text) === text))),
});

export type QueuedGeneration = z.infer<typeof queuedGeneration>;

/** What lines of the log say of it. */
export function queuedFields({
  traceparent,
  ...ref
}: QueuedGeneration): GenerationRef & { traceId?: string } {
  return { ...ref, ...traceFields(traceparent) };
}

/** What Lambda brings of a queue, one message at a time (AWS Lambda, "Using Lambda with Amazon SQS"). */
export const queueEvent = z.object({
  Records: z.tuple([
    z.object({
      messageId: z.string(),
      receiptHandle: z.string(),
      body: z.string(),
      attributes: z.object({ ApproximateReceiveCount: z.string() }),
    }),
  ]),
});

/** Which messages are to come again, by their ids; all others are done. */
export interface QueueAnswer {
  batchItemFailures: { itemIdentifier: string }[];
}

/** @returns null for a message that no function of this service sent. */
export function queuedOf(body: string): QueuedGeneration | null {
  try {
    return queuedGeneration.parse(JSON.parse(body));
  } catch {
    return null;
  }
}
