import * as z from 'zod';
import { secretArn } from './secret-arn.ts';

/** What becomes of a request whose prompt could not be checked. */
const onFailure = z.enum(['refuse', 'allow']).default('refuse');

const httpCheck = z.strictObject({
  kind: z.literal('http'),
  /** The operator's own server. It is asked by POST, signed as Standard Webhooks are. */
  url: z
    .url({
      protocol: /^https$/,
      hostname: z.regexes.domain,
      error: "must be an https URL with a host's name",
    })
    .refine(
      (url) => new URL(url).username + new URL(url).password === '',
      'must hold no user or password: requests are signed instead',
    ),
  /** A secret whose text is `whsec_` and base64, by which the server knows the service. */
  secretArn,
  onFailure,
});

const bedrockCheck = z.strictObject({
  kind: z.literal('bedrock'),
  /** Of a guardrail of Amazon Bedrock in the stack's own account and region. */
  guardrailId: z.string().regex(/^[a-z0-9]{1,64}$/, 'must be the ID of a guardrail, without its ARN'),
  guardrailVersion: z.string().regex(/^([1-9]\d{0,7}|DRAFT)$/, 'must be the number of a version, or DRAFT'),
  onFailure,
});

/** What is refused before and after it is generated, and what the operator sees of it. */
export const moderation = z
  .strictObject({
    /** What every caller's prompts are checked with. */
    prompt: z
      .discriminatedUnion('kind', [z.strictObject({ kind: z.literal('none') }), httpCheck, bedrockCheck])
      .default({ kind: 'none' }),
    /** The share of checked prompts, or of pictures, in percent, from which an hour of refusals is told to the operator. */
    noticePercent: z.int().min(1).max(100).default(20),
    /** For how many days a refused prompt is kept for the operator to read; null: it is not kept. */
    keepRefusedPrompts: z.int().min(1).max(30).nullable().default(null),
  })
  .refine(({ prompt, keepRefusedPrompts }) => keepRefusedPrompts === null || prompt.kind !== 'none', {
    path: ['keepRefusedPrompts'],
    error: 'needs moderation.prompt: without it no prompt is refused',
  });
