import * as z from 'zod/mini';

/** A stored request. Nothing else of it goes from function to function: its prompt stays in the table. */
export const generationRef = z.object({
  licenseId: z.string().check(z.regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/)),
  requestId: z
    .string()
    .check(z.regex(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)),
});

/** What Lambda says of an event that its function could not handle, or never got (AWS Lambda, "Capturing records of asynchronous invocations"). */
export const failedInvocation = z.object({
  requestContext: z.object({
    /** What Lambda called the event when it invoked the function. */
    requestId: z.string().check(z.regex(/^[0-9a-f]{8}-[0-9a-f-]{27}$/)),
    condition: z.string().check(z.maxLength(100)),
  }),
  requestPayload: generationRef,
});

export type GenerationRef = z.infer<typeof generationRef>;
