import * as z from 'zod/mini';
import { count, described } from '../base/answer-fields.ts';

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

export type RefusalDay = z.infer<typeof refusalDay>;
export type RefusalList = z.infer<typeof refusalList>;
