import * as fc from 'fast-check';
import { generationErrorCodes, type CreateGenerationBody } from '../../shared/generations/contract.ts';
import { newGeneration, type Generation } from '../../shared/generations/generation.ts';
import type { Identity } from '../../shared/identities/identity.ts';
import { plainVersion } from '../../shared/identities/version.ts';
import { newRequestId } from '../../shared/base/ids.ts';
import type { License } from '../../shared/licenses/license.ts';
import { ServiceError } from '../../shared/base/errors.ts';
import { anyCharacter } from './any-character.ts';

/** The ServiceError that a call must throw. */
export function refusalOf(call: () => unknown): ServiceError {
  try {
    call();
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error('The call was not refused.');
}

export const sampleKeyId = `key_${'0'.repeat(31)}1`;

export const sampleIdentity: Identity = {
  identityId: 'idn_1',
  name: 'Aurora Studio',
  slug: 'aurora-studio',
  description: 'Northern lights.',
  catalog: 'founding',
  productPhotos: false,
  samples: [],
  model: plainVersion,
  lastVersion: 1,
  formerSlugs: [],
  withdrawn: null,
};

export const sampleLicense: License = {
  licenseId: 'lic_1',
  ownerId: 'owner-1',
  givenName: null,
  planName: null,
  tier: 'pro',
  creditsLimit: 4000,
  foundingCatalog: true,
  identityIds: [],
  apiAccess: true,
  status: 'active',
  graceUntilMs: null,
  suspended: null,
  periodAnchorMs: 0,
  carried: null,
  activeUntilMs: null,
  extraUntilMs: null,
  maxInFlight: null,
  moderation: null,
  createdAtMs: 0,
};

/** A body as the contract hands it on: every default filled in. */
export const sampleBody: CreateGenerationBody = {
  identityId: 'idn_1',
  prompt: 'a lighthouse',
  negativePrompt: '',
  numInferenceSteps: 30,
  guidanceScale: 7.5,
  numOutputs: 1,
  width: 1024,
  height: 1024,
  outputFormat: 'png',
  referenceImages: [],
  referenceMode: 'reference',
  preserveBranding: false,
};

export const sampleNowMs = Date.UTC(2026, 4, 17, 11, 23, 45, 678);

/** A generation as it is when it is accepted, with what a test wants different in its body and then in itself. */
export function sampleGeneration(
  changes: Partial<Generation> = {},
  body: Partial<CreateGenerationBody> = {},
): Generation {
  const generation = newGeneration({
    requestId: newRequestId(sampleNowMs),
    licenseId: 'lic_1',
    keyId: sampleKeyId,
    keyInFlight: null,
    identity: sampleIdentity,
    body: { ...sampleBody, ...body },
    periodStartMs: Date.UTC(2026, 4, 1),
    creditsLimit: 100,
    nowMs: sampleNowMs,
    deadlineSeconds: 120,
    retentionDays: 90,
    idempotencyKeyHash: null,
    moderation: null,
  });
  return { ...generation, ...changes };
}

export const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const base62Character = fc.constantFrom(...base62);

/** Names that every object inherits: each is a possible id, and a trap for records used as dictionaries. */
export const inheritedNames = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', 'isPrototypeOf'];

/** Every text that may be an id: 1 to 64 of A–Z, a–z, 0–9, `_` and `-`, not beginning with the last two. */
export const anyId = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(...inheritedNames) },
  {
    weight: 9,
    arbitrary: fc
      .tuple(
        base62Character,
        fc.string({ unit: fc.oneof(base62Character, fc.constantFrom('_', '-')), maxLength: 63 }),
      )
      .map(([first, rest]) => first + rest),
  },
);

/** From 2000 to 2200: every instant that the service will ever meet. */
export const anyInstantMs = fc.integer({ min: Date.UTC(2000, 0, 1), max: Date.UTC(2200, 0, 1) });

export const anyRequestId = fc.uuid({ version: 7 });

const anyText = fc.string({ unit: anyCharacter, maxLength: 40 });
const orNull = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });

/** Any record that a generation may be when it is first stored, and more: what is known only later is there too. */
export const anyGeneration: fc.Arbitrary<Generation> = fc.record({
  requestId: anyRequestId,
  licenseId: anyId,
  keyId: anyId,
  countedByKey: fc.boolean(),
  keyInFlight: orNull(fc.constant(true)),
  status: fc.constantFrom('QUEUED', 'PROCESSING', 'COMPLETED', 'FAILED', 'TIMEOUT'),
  type: fc.constantFrom('text_to_image', 'reference', 'exact_product'),
  identity: fc.record({ id: anyId, name: anyText, slug: anyText }),
  identityVersion: orNull(fc.integer({ min: 1, max: 999_999 })),
  prompt: anyText,
  effectivePrompt: orNull(anyText),
  negativePrompt: anyText,
  seed: fc.integer({ min: 0, max: 4294967295 }),
  steps: fc.integer({ min: 20, max: 50 }),
  cfgScale: fc.double({ min: 1, max: 20, noNaN: true }),
  width: fc.integer({ min: 8, max: 32 }).map((n) => n * 64),
  height: fc.integer({ min: 8, max: 32 }).map((n) => n * 64),
  numOutputs: fc.integer({ min: 1, max: 4 }),
  outputFormat: fc.constantFrom('png', 'webp', 'jpeg'),
  referenceMode: fc.constantFrom('reference', 'exact_product'),
  preserveBranding: fc.boolean(),
  referenceImages: fc.integer({ min: 0, max: 4 }),
  credits: fc.integer({ min: 1, max: 16 }),
  fromExtra: orNull(
    fc.dictionary(anyId, fc.integer({ min: 1, max: 16 }), { minKeys: 1, maxKeys: 3, noNullPrototype: true }),
  ),
  periodStartMs: anyInstantMs,
  creditsLimit: orNull(fc.integer({ min: 0, max: 1_000_000_000 })),
  createdAtMs: anyInstantMs,
  deadlineMs: anyInstantMs,
  leaseUntilMs: anyInstantMs,
  expiresAtMs: anyInstantMs,
  beganColdStart: orNull(fc.constant(true)),
  startedAtMs: orNull(anyInstantMs),
  completedAtMs: orNull(anyInstantMs),
  errorMessage: orNull(anyText),
  errorCode: orNull(fc.constantFrom(...generationErrorCodes)),
  previews: orNull(fc.array(fc.boolean(), { maxLength: 4 })),
  referenceImagesUsed: fc.integer({ min: 0, max: 4 }),
  modelVersion: orNull(anyText),
  idempotencyKeyHash: orNull(anyText),
  moderation: orNull(fc.constantFrom('exempt' as const, { nsfw: 0.95 })),
});
