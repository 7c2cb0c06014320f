import * as z from 'zod/mini';
import { outputFormats } from './contract.ts';

/** What the painter understands of an identity's `settings`; anything else in them is ignored. */
const settings = z.looseObject({
  /** The name of a style. If the painter does not know it, the identity's id chooses the look. */
  style: z.optional(z.string().check(z.maxLength(100))),
  /** Fails every request as `model_error` with this message. */
  failWith: z.optional(z.string().check(z.minLength(1), z.maxLength(1000))),
  /** Answers only after about this long. */
  delaySeconds: z.optional(z.number().check(z.gte(0), z.lte(3600))),
  /** Never answers, not even at the deadline, as a model that hangs. */
  neverFinishes: z.optional(z.boolean()),
});

const link = z.url({ protocol: /^https?$/ }).check(z.maxLength(8192));
const text = z.string().check(z.maxLength(4000));
const nullableText = z.nullable(z.string().check(z.maxLength(8192)));
const side = z.int().check(z.gte(512), z.lte(2048), z.multipleOf(64));

/** The contract's request, with the ranges that this painter can paint. */
const paintRequest = z.looseObject({
  requestId: z.string().check(z.minLength(1), z.maxLength(200)),
  deadline: z.iso.datetime(),
  /** Whose request it is. A service that is older than fair queueing does not say it. */
  tenant: z.optional(z.string().check(z.minLength(1), z.maxLength(200))),
  prompt: text,
  negativePrompt: text,
  seed: z.int().check(z.gte(0), z.lte(4294967295)),
  numInferenceSteps: z.int().check(z.gte(20), z.lte(50)),
  guidanceScale: z.number().check(z.gte(1), z.lte(20)),
  width: side,
  height: side,
  numOutputs: z.int().check(z.gte(1), z.lte(16)),
  outputFormat: z._default(z.enum(outputFormats), 'png'),
  embedParameters: z._default(z.boolean(), false),
  referenceMode: z.enum(['exact_product', 'reference']),
  preserveBranding: z.boolean(),
  references: z.array(z.object({ url: link })).check(z.maxLength(4)),
  identity: z.looseObject({
    id: z.string().check(z.minLength(1), z.maxLength(200)),
    adapterUrl: nullableText,
    adapterVersion: nullableText,
    /** A service that is older than versions does not say it. */
    version: z.optional(z.int().check(z.gte(1))),
    adapterSha256: z.optional(z.nullable(z.string().check(z.regex(/^[0-9a-f]{64}$/i)))),
    settings,
  }),
  /** A service that is older than previews gives no links for them. */
  outputs: z.array(z.object({ putUrl: link, previewPutUrl: z.optional(z.nullable(link)) })),
  /** Answers 200 once the request was cancelled. A service that is older than cancelling gives none. */
  cancelUrl: z.optional(z.nullable(link)),
});

export type PaintRequest = z.infer<typeof paintRequest>;

export type Parsed = { request: PaintRequest } | { probe: true } | { problem: string };

/** Checks a request against the contract. A problem names its field and never repeats its value. */
export function parseRequest(body: unknown): Parsed {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return { problem: 'The body must be a JSON object.' };
  }
  if ('probe' in body && body.probe === true) return { probe: true };
  const parsed = paintRequest.safeParse(body);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = issue?.path.join('.') ?? '';
    return {
      problem: `${field === '' ? 'The request' : field} does not fit the contract: ${problemOf(issue)}.`,
    };
  }
  if (parsed.data.outputs.length !== parsed.data.numOutputs) {
    return { problem: 'outputs does not fit the contract: it must hold one link for each of numOutputs.' };
  }
  return { request: parsed.data };
}

function problemOf(issue: z.core.$ZodIssue | undefined): string {
  if (issue === undefined) return 'it is invalid';
  const limits = Object.entries(issue).filter(([key]) =>
    ['expected', 'minimum', 'maximum', 'divisor'].includes(key),
  );
  return [issue.code.replaceAll('_', ' '), ...limits.map(([key, value]) => `${key} ${String(value)}`)].join(
    ', ',
  );
}
