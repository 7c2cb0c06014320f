import * as z from 'zod/mini';

/** What an account may choose. */
export const accountSettings = z.strictObject({
  /** Whether an e-mail tells its owner that a license has used 80 or 100 % of its credits. */
  creditMails: z.boolean(),
});

/** PATCH /account: what is left out stays as it is. */
export const changeAccountBody = z.strictObject({
  creditMails: z.optional(z.boolean()),
});

export type AccountSettings = z.output<typeof accountSettings>;
