import * as z from 'zod/mini';
import { described } from './answer-fields.ts';
import { optional } from './fields.ts';

/** What an account may choose. */
export const accountSettings = z.object({
  creditMails: described(
    z.boolean(),
    'Whether an e-mail tells the owner that a license has used 80 and 100 % of its credits.',
  ),
});

/** The body of PATCH /account. What is left out stays as it is. */
export const changeAccountBody = z.strictObject(
  { creditMails: optional(z.boolean('must be true or false')) },
  'must be a JSON object',
);

export type AccountSettings = z.output<typeof accountSettings>;
