import { maxAddressesPerMinute } from '../references/contract.ts';
import { referenceLimits } from '../images/image-types.ts';
import type { Schema } from './schema.ts';

const mebibyte = 1024 * 1024;
const { maxItems, maxBytes, maxPixels } = referenceLimits;

const generationProperties: Record<string, Schema> = {
  // An empty identityId is refused as a missing one, before the rest of the body is checked.
  identityId: { minLength: 1, description: 'The id of one of `GET /identities`, or a slug.' },
  identityVersion: {
    description:
      'One of the versions of `GET /identities/{identityId}`. Left out: the active one, which the operator may change at any time.',
  },
  prompt: { description: 'What to generate. Lengths count Unicode code points.' },
  negativePrompt: { description: 'What to leave out.' },
  seed: {
    description:
      'The same seed and parameters make the same image, with the same version of the identity and of the model. Output *i* uses seed + *i*. ' +
      'Random when it is left out. ' +
      'Another `outputFormat` is another file of the same picture.',
  },
  numInferenceSteps: { description: 'More steps take longer.' },
  guidanceScale: { description: 'How closely the prompt is followed.' },
  numOutputs: {
    description: "Images to make. Above the license's `maxOutputs` it is refused with TIER_LIMIT.",
  },
  width: { description: "Pixels. Above the license's `maxSidePx` it is refused with TIER_LIMIT." },
  height: { description: "Pixels. Above the license's `maxSidePx` it is refused with TIER_LIMIT." },
  outputFormat: {
    description:
      'What the images are stored as. `png` keeps every pixel as it was generated; `webp` and `jpeg` have quality 90 and are ' +
      'files of a fraction of the size.',
  },
  referenceImages: {
    description:
      `Pictures of a product, for identities with \`productPhotos\` alone: at most ${maxItems}, each by exactly one of a public ` +
      `https:// \`url\` (host name only: no address, user, password or other port; or the file itself as a base64 data: URI) and the \`uploadId\` of an upload. PNG, JPEG or WebP, ` +
      `at most ${maxBytes / mebibyte} MiB and ${maxPixels / 1_000_000} megapixels. One that can't be used is refused with ` +
      `INVALID_PARAMETERS, after every other check; one that can't be decoded, once the model has tried. Nothing is charged. Of a license's requests at most ` +
      `${maxAddressesPerMinute} URLs a minute are fetched: beyond that, it is refused with RATE_LIMITED.`,
  },
  referenceMode: {
    description: '`exact_product` keeps the product as it is and needs at least one reference image.',
  },
  preserveBranding: {
    description: 'Asks for packaging, logo and label to be kept accurate, where the identity can.',
  },
};

const licenseId: Schema = {
  minLength: 1,
  description: "One of the account's licenses, from `GET /licenses`.",
};

const budget =
  "The key's budget: so many credits of its license's period it may use. Beyond them, 429 CREDIT_LIMIT_EXCEEDED.";

const access =
  'Whether the key reads, lists and deletes all requests of its license (`license`) or only what it made (`own`), and gets 404 for ' +
  'the rest. One with a budget deletes only its own in any case.';
const places =
  "How many of the key's requests may be in flight at a time, at most its license's `maxInFlight`. Beyond them, 429 RATE_LIMITED.";

/** Rules for members of bodies beyond their contracts, and a sentence about each. */
export const memberRules: Record<string, Record<string, Schema>> = {
  GenerationRequest: generationProperties,
  PlaygroundGenerationRequest: { ...generationProperties, licenseId },
  CreateKeyRequest: {
    licenseId,
    name: { description: 'What you know the key by.' },
    expiresAt: {
      description:
        'ISO 8601 with a zone, in the future and before the year 10000 in UTC. Null or left out: the key does not expire.',
    },
    monthlyCredits: { description: `${budget} Null or left out: it has none.` },
    access: { description: `${access} Null or left out: \`license\`.` },
    maxInFlight: { description: `${places} Null or left out: as many as its license.` },
  },
  ChangeKeyRequest: {
    name: { description: 'What you know the key by.' },
    monthlyCredits: { description: `${budget} Null takes it away; left out, it stays as it is.` },
    access: { description: access },
    maxInFlight: {
      description: `${places} It counts what begins from then on. Null takes it away; left out, it stays as it is.`,
    },
  },
  ChangeAccountRequest: {
    creditMails: {
      description: 'Whether you are notified by e-mail when a license has used 80 and 100% of its credits.',
    },
    endSessions: {
      description:
        'True refuses every access token of the account that was issued by now, the one of this call too, from the next request on.',
    },
  },
  UploadRequest: {
    contentType: { description: 'What the file is, if you know.' },
    licenseId: {
      minLength: 1,
      description: `${licenseId.description} By session it is required, by key it is refused.`,
    },
  },
};
