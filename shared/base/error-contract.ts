import * as z from 'zod/mini';
import { described } from './answer-fields.ts';

/** Every error's body has exactly these two members. Whatever else a client needs is in headers. */
export const errorBody = z.strictObject({
  error: described(z.string().check(z.minLength(1)), 'Says what to change, in words that may improve.'),
  code: described(z.string(), 'For programs. It does not change.'),
});
