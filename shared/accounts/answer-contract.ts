import * as z from 'zod/mini';
import { described } from '../base/answer-fields.ts';

/** What an account may choose. */
export const accountSettings = z.object({
  creditMails: described(
    z.boolean(),
    'Whether the owner is notified by e-mail when a license has used 80 and 100% of its credits.',
  ),
});

export type AccountSettings = z.output<typeof accountSettings>;
