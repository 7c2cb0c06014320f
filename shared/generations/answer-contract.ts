import * as z from 'zod/mini';
import { count, described, link, requestId, timestamp } from '../base/answer-fields.ts';
import { extraRemaining } from '../licenses/usage-contract.ts';
import { generationErrorCodes, maxSeed, referenceModes } from './contract.ts';
import { outputFormats } from '../images/image-types.ts';
import { generationStatuses, generationTypes } from '../base/generation-kinds.ts';

const outputs = described(
  z.array(link),
  'Signed links to the images, open to everyone who has them for an hour at most. Fetch the request again for new ones.',
);
const previews = described(
  z.array(z.nullable(link)),
  'Signed links to small WebP copies, in the order of `outputs`; an entry is null where there is none. Each stays the same for a quarter of an hour, and opens for 45 minutes at least.',
);
const seed = described(
  z.int().check(z.gte(0), z.lte(maxSeed)),
  'The seed of the first output; each further one has the next.',
);
const referenceImagesUsed = described(count, 'How many reference images the model says it used.');

const identity = z.object({ id: z.string(), name: z.string() });
const identityVersion = described(
  z.nullable(z.int().check(z.gte(1))),
  "The identity's version that makes the images; null in requests of before there were versions.",
);
const usage = z.object({
  creditsUsed: described(count, 'Credits used in the period, extra ones and this request included.'),
  creditsLimit: described(count, 'Credits of a period.'),
  creditsRemaining: described(
    z.int(),
    '`creditsLimit` less `creditsUsed`: negative when the limit was lowered below what is used, or extra credits pay for more.',
  ),
  extraRemaining,
  creditsCharged: described(count, 'What this request was charged.'),
  periodResetDate: described(timestamp, "When the next period's credits begin."),
});

/** The answer of POST /generate?dryRun=true, where the request itself would be accepted. */
export const dryRunAnswer = z.object({
  dryRun: described(z.literal(true), 'Nothing was generated, charged or stored.'),
  accepted: described(z.literal(true), 'A request that would be refused is answered with its refusal.'),
  identity,
  credits: described(
    count,
    'What the request would be charged; 0 where its Idempotency-Key stands for a result already.',
  ),
  usage: described(usage, 'As it is: a dry run charges nothing. What running requests hold is not in it.'),
});

/** The answer of POST /generate. */
export const generationAnswer = z.object({
  requestId,
  outputs,
  previews,
  identity,
  identityVersion,
  referenceImagesUsed,
  usage,
  processingTimeMs: described(count, 'Milliseconds from acceptance to completion.'),
  seed,
});

/** The answer of POST /generate to a client that prefers not to wait. */
export const acceptedGeneration = z.object({
  requestId,
  status: z.literal('QUEUED'),
  creditsReserved: described(count, 'What it will be charged if it completes.'),
});

/** The answer of GET /generate/{requestId}, and an item of GET /generate. */
export const storedGeneration = z.object({
  id: requestId,
  licenseId: z.string(),
  keyId: described(z.nullable(z.string()), 'The key that asked; null for the playground.'),
  type: z.enum(generationTypes),
  status: described(z.enum(generationStatuses), 'COMPLETED, FAILED and TIMEOUT are final and never change.'),
  identity: described(
    z.object({ id: z.string(), name: z.string(), slug: z.string() }),
    'As it was when the request was accepted.',
  ),
  identityVersion,
  prompt: z.string(),
  effectivePrompt: described(
    z.nullable(z.string()),
    'What the model got for the prompt, where the identity has words of its own around it; null otherwise.',
  ),
  negativePrompt: z.string(),
  seed,
  steps: described(z.int(), 'Inference steps.'),
  cfgScale: described(z.number(), 'Guidance scale.'),
  width: described(z.int(), 'Pixels.'),
  height: described(z.int(), 'Pixels.'),
  numOutputs: z.int(),
  outputFormat: described(z.enum(outputFormats), 'What the images are stored as.'),
  referenceMode: z.enum(referenceModes),
  preserveBranding: z.boolean(),
  outputUrl: described(z.nullable(link), 'The first of `outputs`; null unless the request completed.'),
  outputs,
  previews,
  errorMessage: described(z.nullable(z.string()), 'Why it failed; null unless it did.'),
  errorCode: described(
    z.nullable(z.enum(generationErrorCodes)),
    'The code of that error; null unless it failed.',
  ),
  creditsCharged: described(count, '0 unless the request completed.'),
  referenceImagesUsed,
  processingTimeMs: described(z.nullable(count), 'Milliseconds from acceptance to the end; null until then.'),
  modelVersion: described(z.nullable(z.string()), 'What made the images; null unless the request completed.'),
  createdAt: described(timestamp, 'When the request was accepted.'),
  startedAt: described(z.nullable(timestamp), 'When the model began; null until then.'),
  completedAt: described(z.nullable(timestamp), 'When it ended, however it ended; null until then.'),
});

/** The answer of GET /generate. */
export const generationList = z.object({
  generations: described(
    z.array(storedGeneration),
    'Newest first. A filtered page may hold fewer than `limit`, or none, and still have a next one.',
  ),
  nextCursor: described(
    z.nullable(z.string()),
    'Send it as `cursor` for the next page; null on the last one.',
  ),
  searchedBackTo: described(z.nullable(timestamp), 'Everything newer was looked at; null on the last page.'),
});

/** The answer of DELETE /generate/{requestId}. */
export const deletedGeneration = z.object({
  requestId,
  deleted: described(z.literal(true), 'Nothing of the request is stored any more.'),
});

/** The events of an answer to `Accept: text/event-stream`, by name. */
export const generationEvents = z.object({
  accepted: z.object({ requestId, creditsReserved: count }),
  queued: described(
    z.object({
      position: described(z.int().check(z.gte(1)), 'How many requests begin before this one, plus one.'),
      etaSeconds: described(count, 'Until it is expected to begin; 0 while that is not known.'),
    }),
    'The request waits for the model. Sent when it must wait, when it moves up, and every few seconds.',
  ),
  started: described(z.strictObject({}), 'The model began.'),
  progress: z.object({ step: count, steps: count }),
  completed: generationAnswer,
  failed: described(
    z.object({ error: z.string(), code: z.string(), status: z.int() }),
    'The error that a plain answer would have been, with its status.',
  ),
});

export type DryRunAnswer = z.infer<typeof dryRunAnswer>;
export type GenerationAnswer = z.infer<typeof generationAnswer>;
export type AcceptedGeneration = z.infer<typeof acceptedGeneration>;
export type StoredGeneration = z.infer<typeof storedGeneration>;
export type DeletedGeneration = z.infer<typeof deletedGeneration>;
export type GenerationList = z.infer<typeof generationList>;
