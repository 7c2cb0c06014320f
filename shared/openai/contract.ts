import * as z from 'zod/mini';
import { ownWords, type Words } from '../base/errors.ts';
import { describeIssues, integer, optional } from '../base/fields.ts';
import { referenceLimits } from '../images/image-types.ts';
import type { CreateGenerationBody } from '../generations/contract.ts';

/** Members that POST /generate has too, by their names here. It checks them. */
const sameMembers = {
  model: 'identityId',
  prompt: 'prompt',
  n: 'numOutputs',
  output_format: 'outputFormat',
  seed: 'seed',
  negative_prompt: 'negativePrompt',
  guidance_scale: 'guidanceScale',
  steps: 'numInferenceSteps',
  reference_mode: 'referenceMode',
} as const satisfies Record<string, keyof CreateGenerationBody>;

export const openAiWords: Words = {
  ...ownWords,
  members: {
    ...Object.fromEntries(Object.entries(sameMembers).map(([theirs, ours]) => [ours, theirs])),
    referenceImages: 'images',
    url: 'image_url',
    width: "size's width",
    height: "size's height",
  },
  noIdentity: 'model is missing: send the ID or the slug of the identity to use.',
  unknownIdentity: 'No identity has this ID or slug.',
  identityList: 'GET /models',
  uploads: 'POST /images/edits',
  refetch: "Fetch the request from the service's own API, by the X-Request-Id",
};

const unchecked = z.optional(z.unknown());
const only = (...values: string[]) => {
  const quoted = values.map((value) => `"${value}"`);
  return optional(z.enum(values, `must be ${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`));
};
const sizeRule = 'must be "auto" or a width and a height, as "1024x1024"';
const readSize = (size: string) => /^(\d{1,9})x(\d{1,9})$/.exec(size);

/** Members that SDKs and programs send by habit, with the values that ask for no other picture than is made without them. */
const withoutEffect = {
  user: unchecked,
  safety_identifier: unchecked,
  // There are none. OpenAI may send fewer than were asked for, too.
  partial_images: optional(integer(0, 3)),
  quality: only('auto', 'standard', 'hd', 'low', 'medium', 'high', 'xhigh', 'max'),
  style: only('vivid', 'natural'),
  background: only('auto', 'opaque'),
  moderation: only('auto', 'low'),
  output_compression: optional(z.literal(100, 'must be 100')),
};

const unsupported = (instead = '') => optional(z.never(`is not supported${instead}`));
const withReferences = unsupported(': POST /images/edits takes reference images');
const withPrompt = unsupported(': say what to paint in prompt');

/** Members of OpenAI's image generation and edits, and of its chats, that ask for what is not made here. */
const notSupported = {
  image: withReferences,
  images: withReferences,
  input_fidelity: withReferences,
  reference_mode: withReferences,
  mask: unsupported(': the whole picture is painted, after the images. Say in prompt what is to be another'),
  markup: unsupported(),
  complexity: unsupported(),
  frame_count: unsupported(),
  frame_duration_ms: unsupported(),
  svg: unsupported(),
  messages: withPrompt,
  input: withPrompt,
};

const { maxItems } = referenceLimits;
const imagesRule = `must be 1 to ${maxItems} images: files in a form, or objects with image_url`;
const images = z
  .array(
    z.strictObject(
      {
        image_url: z.string('must be an https:// or data: URL in a string'),
        file_id: unsupported(': send an image_url'),
      },
      'must be an object with image_url',
    ),
    imagesRule,
  )
  .check(z.minLength(1, imagesRule), z.maxLength(maxItems, imagesRule));

/** What asks for no other picture where there are images. */
const withoutEffectOnEdits = {
  ...withoutEffect,
  input_fidelity: optional(
    z.literal('low', 'must be "low": reference_mode "exact_product" keeps a product as it is'),
  ),
};

const membersOfBoth = {
  ...(Object.fromEntries(Object.keys(sameMembers).map((name) => [name, unchecked])) as Record<
    keyof typeof sameMembers,
    typeof unchecked
  >),
  size: optional(
    z.string(sizeRule).check(z.refine((size) => size === 'auto' || readSize(size) !== null, sizeRule)),
  ),
  response_format: optional(z.enum(['url', 'b64_json'], 'must be "url" or "b64_json"')),
  stream: optional(z.boolean('must be true or false')),
  ...notSupported,
};

const streamsNoLinks = z.refine<{ stream?: boolean | undefined; response_format?: string | undefined }>(
  ({ stream, response_format: format }) => !(stream === true && format === 'url'),
  {
    path: ['response_format'],
    error: 'must be left out or "b64_json" where stream is true',
    // Named beside what is wrong with other members.
    when: () => true,
  },
);

/** The members of OpenAI's `POST /images/generations` (API reference, "Create image"), and four of ours. */
const imageBody = z.strictObject({ ...membersOfBoth, ...withoutEffect }).check(streamsNoLinks);

/** Those of its `POST /images/edits` ("Create image edit", as JSON; `readForm` makes it of a form), and five of ours. */
const editBody = z
  .strictObject({
    ...membersOfBoth,
    ...withoutEffectOnEdits,
    reference_mode: unchecked,
    image: unsupported(' in JSON: send images, each an object with image_url'),
    images,
  })
  .check(streamsNoLinks);

/** The names of all members that are known. */
export const openAiMembers: readonly string[] = Object.keys(editBody.shape);

/** How a request wants its images. Clients read links or the images themselves: who names neither gets `both`. */
export type ImageForm = 'url' | 'b64_json' | 'both' | 'events';

/** What is looked up for a name: the id or slug that the operator says, or the name itself. */
export function identityFor<T>(name: T, modelNames: Readonly<Record<string, string>>): T | string {
  return typeof name === 'string' && Object.hasOwn(modelNames, name) ? modelNames[name]! : name;
}

export interface TranslatedBody {
  /** A body of POST /generate. */
  body: Record<string, unknown>;
  /** A sentence that names what can't be translated; null where all can. */
  problem: string | null;
  form: ImageForm;
  /** Names of what was sent and has no effect; none where there is a problem. */
  ignored: string[];
}

/** Translates the body of OpenAI's `POST /images/generations`, or of its `POST /images/edits`. */
export function translateOpenAiBody(
  sent: Record<string, unknown>,
  modelNames: Readonly<Record<string, string>> = {},
  { isEdit = false } = {},
): TranslatedBody {
  const body: Record<string, unknown> = {};
  for (const [theirs, ours] of Object.entries(sameMembers)) {
    if (Object.hasOwn(sent, theirs)) body[ours] = sent[theirs];
  }
  if ('identityId' in body) body.identityId = identityFor(body.identityId, modelNames);
  const [, width, height] = (typeof sent.size === 'string' && readSize(sent.size)) || [];
  if (width !== undefined) Object.assign(body, { width: Number(width), height: Number(height) });
  const references = isEdit ? images.safeParse(sent.images) : null;
  if (references?.success) body.referenceImages = references.data.map(({ image_url: url }) => ({ url }));
  const parsed = (isEdit ? editBody : imageBody).safeParse(sent);
  if (!parsed.success)
    return { body, problem: describeIssues(parsed.error.issues), form: 'url', ignored: [] };
  const form = parsed.data.stream ? 'events' : (parsed.data.response_format ?? 'both');
  const ignored = Object.keys(isEdit ? withoutEffectOnEdits : withoutEffect).filter(
    (name) => (sent[name] ?? null) !== null,
  );
  return { body, problem: null, form, ignored };
}
