import * as z from 'zod/mini';
import { decimal, integer, text } from './fields.ts';
import {
  parseReferenceUrl,
  referenceLimits,
  referenceUrlRule,
  referenceUrlShape,
} from './reference-images.ts';

export const maxSeed = 2 ** 32 - 1;

const sideRule = 'must be a multiple of 64, at least 512';
// Not z.int, which refuses unsafe integers: the tier limits the size, with an error of its own.
const side = z.number(sideRule).check(
  z.gte(512, sideRule),
  z.refine((value) => Number.isInteger(value) && value % 64 === 0, sideRule),
  z.meta({ type: 'integer', multipleOf: 64 }),
);

const outputsRule = 'must be an integer of at least 1';
const referencesRule = `must be an array of at most ${referenceLimits.maxItems} items`;

const referenceImage = z
  .strictObject(
    {
      url: z.optional(
        z.string(referenceUrlRule).check(
          z.refine((value) => parseReferenceUrl(value) !== null, referenceUrlRule),
          z.meta(referenceUrlShape),
        ),
      ),
      uploadId: z.optional(text(1, 100)),
    },
    'must be an object with url or uploadId',
  )
  .check(
    z.refine(
      (item) => (item.url === undefined) !== (item.uploadId === undefined),
      'must have exactly one of url and uploadId',
    ),
    z.meta({ oneOf: [{ required: ['url'] }, { required: ['uploadId'] }] }),
  );

export const referenceModes = ['exact_product', 'reference'] as const;

/** What a request's images are stored as. */
export const outputFormats = ['png', 'webp', 'jpeg'] as const;

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
      z
        .number(outputsRule)
        .check(z.gte(1, outputsRule), z.refine(Number.isInteger, outputsRule), z.meta({ type: 'integer' })),
      1,
    ),
    width: z._default(side, 1024),
    height: z._default(side, 1024),
    outputFormat: z._default(z.enum(outputFormats, 'must be "png", "webp" or "jpeg"'), 'png'),
    referenceImages: z._default(
      z.array(referenceImage, referencesRule).check(z.maxLength(referenceLimits.maxItems, referencesRule)),
      [],
    ),
    referenceMode: z._default(z.enum(referenceModes, 'must be "exact_product" or "reference"'), 'reference'),
    preserveBranding: z._default(z.boolean('must be true or false'), false),
  },
  'must be a JSON object',
);

export type CreateGenerationBody = z.infer<typeof createGenerationBody>;
export type ReferenceItem = CreateGenerationBody['referenceImages'][number];
export type ReferenceMode = (typeof referenceModes)[number];
export type OutputFormat = (typeof outputFormats)[number];

export const generationStatuses = ['QUEUED', 'PROCESSING', 'COMPLETED', 'FAILED', 'TIMEOUT'] as const;
export type GenerationStatus = (typeof generationStatuses)[number];

/** What kind of request a generation was, for statistics and filters. */
export const generationTypes = ['text_to_image', 'reference', 'exact_product'] as const;
export type GenerationType = (typeof generationTypes)[number];
