import * as z from 'zod/mini';
import { codePoints, decimal, integer, isCleanText, text } from './fields.ts';

export const maxSeed = 2 ** 32 - 1;

const sideRule = 'must be a multiple of 64, at least 512';
// Not z.int: how large a number may be is the tier's to say, and there is no size beyond which it is no integer.
const side = z.number(sideRule).check(
  z.gte(512, sideRule),
  z.refine((value) => Number.isInteger(value) && value % 64 === 0, sideRule),
);

const outputsRule = 'must be an integer of at least 1';
const referenceUrlRule = 'must be an https:// URL of at most 2048 characters';

function isHttpsUrl(value: string): boolean {
  return (
    codePoints(value) <= 2048 &&
    isCleanText(value) &&
    /^https:\/\/[^\s]+$/i.test(value) &&
    URL.canParse(value)
  );
}

const referenceImage = z
  .strictObject(
    {
      url: z.optional(z.string(referenceUrlRule).check(z.refine(isHttpsUrl, referenceUrlRule))),
      uploadId: z.optional(text(1, 100)),
    },
    'must be an object with url or uploadId',
  )
  .check(
    z.refine(
      (item) => (item.url === undefined) !== (item.uploadId === undefined),
      'must have exactly one of url and uploadId',
    ),
  );

const referenceModes = ['exact_product', 'reference'] as const;

/**
 * The body of POST /generate, after `identityId` was found. What depends on the identity, on the tier or on the
 * month's credits is checked by the domain; these rules hold for every caller.
 */
export const createGenerationBody = z.strictObject(
  {
    identityId: z.string(),
    prompt: text(1, 1000),
    negativePrompt: z._default(text(0, 500), ''),
    seed: z.optional(integer(0, maxSeed)),
    numInferenceSteps: z._default(integer(20, 50), 30),
    guidanceScale: z._default(decimal(1, 20), 7.5),
    numOutputs: z._default(
      z.number(outputsRule).check(z.gte(1, outputsRule), z.refine(Number.isInteger, outputsRule)),
      1,
    ),
    width: z._default(side, 1024),
    height: z._default(side, 1024),
    referenceImages: z._default(
      z
        .array(referenceImage, 'must be an array of at most 4 items')
        .check(z.maxLength(4, 'must be an array of at most 4 items')),
      [],
    ),
    referenceMode: z._default(z.enum(referenceModes, 'must be "exact_product" or "reference"'), 'reference'),
    preserveBranding: z._default(z.boolean('must be true or false'), false),
  },
  'must be a JSON object',
);

export type CreateGenerationBody = z.infer<typeof createGenerationBody>;
export type ReferenceMode = (typeof referenceModes)[number];

export const generationStatuses = ['QUEUED', 'PROCESSING', 'COMPLETED', 'FAILED', 'TIMEOUT'] as const;
export type GenerationStatus = (typeof generationStatuses)[number];

/** What kind of request a generation was, for statistics and filters. */
export const generationTypes = ['text_to_image', 'reference', 'exact_product'] as const;
export type GenerationType = (typeof generationTypes)[number];

/** The answer of POST /generate. */
export interface GenerationAnswer {
  requestId: string;
  outputs: string[];
  identity: { id: string; name: string };
  referenceImagesUsed: number;
  usage: {
    creditsUsed: number;
    creditsLimit: number;
    creditsRemaining: number;
    creditsCharged: number;
    /** ISO 8601 UTC. */
    periodResetDate: string;
  };
  processingTimeMs: number;
  seed: number;
}

/** The answer of GET /generate/{requestId}, and an item of GET /generate. Links are signed anew each time. */
export interface StoredGeneration {
  id: string;
  licenseId: string;
  type: GenerationType;
  status: GenerationStatus;
  /** As it was when the request was accepted. */
  identity: { id: string; name: string; slug: string };
  prompt: string;
  negativePrompt: string;
  seed: number;
  steps: number;
  cfgScale: number;
  width: number;
  height: number;
  numOutputs: number;
  referenceMode: ReferenceMode;
  preserveBranding: boolean;
  outputUrl: string | null;
  outputs: string[];
  errorMessage: string | null;
  creditsCharged: number;
  referenceImagesUsed: number;
  processingTimeMs: number | null;
  modelVersion: string | null;
  createdAt: string;
  startedAt: string | null;
  completedAt: string | null;
}

/** The answer of GET /generate. A filtered page may hold fewer than `limit` items, or none, and still have a next one. */
export interface GenerationList {
  generations: StoredGeneration[];
  /** Send it as `cursor` for the next page; null on the last one. */
  nextCursor: string | null;
}

/** The events of an answer to `Accept: text/event-stream`, by name. */
export interface GenerationEvents {
  accepted: { requestId: string; creditsReserved: number };
  started: Record<string, never>;
  progress: { step: number; steps: number };
  completed: GenerationAnswer;
  failed: { error: string; code: string; status: number };
}
