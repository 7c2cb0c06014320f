import * as z from 'zod/mini';
import { decimal, defaulted, integer, optional, text } from '../base/fields.ts';
import { outputFormats, referenceLimits } from '../images/image-types.ts';
import { maxVersionNumber } from '../identities/version.ts';
import { referenceItem } from '../references/contract.ts';

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

export const referenceModes = ['exact_product', 'reference'] as const;

/**
 * The body of POST /generate, after `identityId` was found. What depends on the identity, on the tier or on the
 * month's credits is checked by the domain; these rules hold for every caller.
 */
export const createGenerationBody = z.strictObject(
  {
    identityId: z.string('must be the id or the slug of an identity'),
    identityVersion: optional(integer(1, maxVersionNumber)),
    prompt: text(1, 1000),
    negativePrompt: defaulted(text(0, 500), ''),
    seed: optional(integer(0, maxSeed)),
    numInferenceSteps: defaulted(integer(20, 50), 30),
    guidanceScale: defaulted(decimal(1, 20), 7.5),
    numOutputs: defaulted(
      z
        .number(outputsRule)
        .check(z.gte(1, outputsRule), z.refine(Number.isInteger, outputsRule), z.meta({ type: 'integer' })),
      1,
    ),
    width: defaulted(side, 1024),
    height: defaulted(side, 1024),
    outputFormat: defaulted(z.enum(outputFormats, 'must be "png", "webp" or "jpeg"'), 'png'),
    referenceImages: defaulted(
      z.array(referenceItem, referencesRule).check(z.maxLength(referenceLimits.maxItems, referencesRule)),
      [],
    ),
    referenceMode: defaulted(z.enum(referenceModes, 'must be "exact_product" or "reference"'), 'reference'),
    preserveBranding: defaulted(z.boolean('must be true or false'), false),
  },
  'must be a JSON object',
);

export type CreateGenerationBody = z.infer<typeof createGenerationBody>;
export type ReferenceMode = (typeof referenceModes)[number];

/** Why a request that was accepted ended without an image. */
export const generationErrorCodes = [
  'GENERATION_FAILED',
  'TIMEOUT',
  'SERVICE_UNAVAILABLE',
  // A reference image that the model could not read.
  'INVALID_PARAMETERS',
  'CONTENT_REFUSED',
  'CANCELLED',
] as const;
export type GenerationErrorCode = (typeof generationErrorCodes)[number];

/** What stands for the playground where a key's id names who asked. */
export const playgroundCaller = 'playground';

/** Characters of a search in a history, at most. */
export const maxSearchLength = 200;

/** A search in a history: words of the prompt. */
export const searchText = text(1, maxSearchLength);
