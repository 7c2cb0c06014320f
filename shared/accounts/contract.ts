import * as z from 'zod/mini';
import { optional } from '../base/fields.ts';

/** The body of PATCH /account. What is left out stays as it is. */
export const changeAccountBody = z.strictObject(
  { creditMails: optional(z.boolean('must be true or false')) },
  'must be a JSON object',
);
