import * as z from 'zod/mini';
import { count, described, requestId, timestamp } from '../base/answer-fields.ts';

const refusal = z.object({
  keyId: described(z.nullable(z.string()), 'The key whose requests were refused; null for the playground.'),
  code: described(z.string(), 'The `code` of their answers.'),
  count: described(count, 'How many of that day, at least 1.'),
});

const refusalDay = z.object({
  date: described(
    z.string().check(z.regex(/^\d{4}-\d{2}-\d{2}$/), z.meta({ format: 'date' })),
    'A day of UTC.',
  ),
  refusals: described(z.array(refusal), 'One for each key and code, the largest count first.'),
});

/** The answer of GET /licenses/{licenseId}/refusals. */
export const refusalList = z.object({
  days: described(z.array(refusalDay), 'Newest first; a day without refusals is left out.'),
});

const refusedRequest = z.object({
  requestId: described(requestId, 'The `X-Request-Id` of its answer.'),
  at: described(timestamp, 'When it arrived.'),
  route: described(z.string(), 'Its method and the path of its endpoint.'),
  keyId: described(z.nullable(z.string()), 'The key that it came by; null for the playground.'),
  keyName: described(z.nullable(z.string()), 'The name that the key had then; null for the playground.'),
  status: described(z.int(), 'The HTTP status of its answer, also where that came in a stream of events.'),
  code: described(z.string(), 'The `code` of its answer.'),
  error: described(z.string(), 'The sentence of its answer. `"…"` stands for what it quoted.'),
});

/** The answer of GET /licenses/{licenseId}/refused-requests. */
export const refusedRequestList = z.object({
  requests: described(z.array(refusedRequest), 'Newest first, at most 100.'),
});

export type RefusedRequestAnswer = z.infer<typeof refusedRequest>;
export type RefusedRequestList = z.infer<typeof refusedRequestList>;
export type RefusalDay = z.infer<typeof refusalDay>;
export type RefusalList = z.infer<typeof refusalList>;
