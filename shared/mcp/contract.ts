import * as z from 'zod/mini';
import { ownWords, type Words } from '../base/errors.ts';
import { count, described, requestId } from '../base/answer-fields.ts';
import { optional } from '../base/fields.ts';
import { createGenerationBody } from '../generations/contract.ts';

/** An agent knows tools and their arguments, and neither routes nor headers. */
export const agentWords: Words = {
  ...ownWords,
  identityList: 'list_identities',
  idempotencyKey: 'idempotencyKey',
  body: 'set of arguments',
  uploads: "the service's HTTP API, for which there is no tool",
  refetch: 'Call get_generation with this requestId',
  requestId: 'this requestId',
};

/** The arguments of the tools `generate` and `quote`: the body of POST /generate, and its header as a member. */
export const generateArguments = z.strictObject({
  ...createGenerationBody.shape,
  idempotencyKey: optional(z.string().check(z.regex(/^[\x21-\x7e]{1,255}$/))),
});

export const listIdentitiesArguments = z.strictObject({});

export const requestArguments = z.strictObject({
  requestId: z.string('must be the requestId of a generation'),
});

/** What a tool answers in place of its result: the error's body, and what POST /generate says of it in headers. */
export const toolRefusal = z.object({
  error: described(z.string(), 'Says what to change.'),
  code: described(z.string(), 'For programs: see docs/errors.md.'),
  retryAfterSeconds: z.optional(described(count, 'When to try again.')),
  requestId: z.optional(
    described(requestId, 'The request that it is about; `get_generation` fetches it, if it was stored.'),
  ),
});

export type ToolRefusal = z.infer<typeof toolRefusal>;
