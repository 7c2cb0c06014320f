import * as z from 'zod/mini';
import { instant, optional } from '../base/fields.ts';
import { isId } from '../base/ids.ts';

/** The body of PATCH /account. What is left out stays as it is. */
export const changeAccountBody = z.strictObject(
  {
    creditMails: optional(z.boolean('must be true or false')),
    /** Tokens that were issued by now are refused from the next request on, the caller's own too. */
    endSessions: optional(z.boolean('must be true or false')),
  },
  'must be a JSON object',
);

/** What EventBridge brings of a call that ended an account's sessions (Amazon Cognito, "Logging in CloudTrail"). Names are hidden in it. */
export const sessionsEnd = z.object({
  detail: z.object({
    eventName: z.string().check(z.maxLength(100)),
    eventTime: instant,
    additionalEventData: z.object({ sub: z.string().check(z.refine(isId)) }),
  }),
});
