import * as z from 'zod/mini';
import type { Dialect } from './dialect.ts';
import { describeIssues, integer, optional } from './fields.ts';
import type { CreateGenerationBody } from './generation.ts';

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
} as const satisfies Record<string, keyof CreateGenerationBody>;

export const openAiDialect: Dialect = {
  members: {
    ...Object.fromEntries(Object.entries(sameMembers).map(([theirs, ours]) => [ours, theirs])),
    width: "size's width",
    height: "size's height",
  },
  queryParameters: [],
  noIdentity: 'model is missing: send the ID or the slug of the identity to use.',
  unknownIdentity: 'No identity has this ID or slug.',
  identityList: 'GET /models',
};

const unchecked = z.optional(z.unknown());
const only = (...values: string[]) => optional(z.enum(values, `must be left out or "${values[0]}"`));
const sizeRule = 'must be "auto" or a width and a height, as "1024x1024"';
const readSize = (size: string) => /^(\d{1,9})x(\d{1,9})$/.exec(size);

/** The members of OpenAI's `POST /images/generations` (API reference, "Create image") that are taken, and four of ours. */
const imageBody = z
  .strictObject({
    ...(Object.fromEntries(Object.keys(sameMembers).map((name) => [name, unchecked])) as Record<
      keyof typeof sameMembers,
      typeof unchecked
    >),
    size: optional(
      z.string(sizeRule).check(z.refine((size) => size === 'auto' || readSize(size) !== null, sizeRule)),
    ),
    response_format: optional(z.enum(['url', 'b64_json'], 'must be "url" or "b64_json"')),
    stream: optional(z.boolean('must be true or false')),
    // There are none. OpenAI may send fewer than were asked for, too.
    partial_images: optional(integer(0, 3)),
    user: unchecked,
    // Their defaults; where their models differ, all of them.
    quality: only('auto', 'standard'),
    style: only('vivid'),
    background: only('auto'),
    moderation: only('auto'),
  })
  .check(
    z.refine(({ stream, response_format: format }) => !(stream === true && format === 'url'), {
      path: ['response_format'],
      error: 'must be left out or "b64_json" where stream is true',
      // Told beside what is wrong with other members.
      when: () => true,
    }),
  );

/** The names of all members that are taken. */
export const openAiMembers: readonly string[] = Object.keys(imageBody.shape);

/** How a request wants its images. */
export type ImageForm = 'url' | 'b64_json' | 'events';

export interface TranslatedBody {
  /** A body of POST /generate. */
  body: Record<string, unknown>;
  /** A sentence that names what can't be translated; null where all can. */
  problem: string | null;
  form: ImageForm;
}

/** Translates the body of OpenAI's `POST /images/generations`. */
export function translateOpenAiBody(sent: Record<string, unknown>): TranslatedBody {
  const body: Record<string, unknown> = {};
  for (const [theirs, ours] of Object.entries(sameMembers)) {
    if (Object.hasOwn(sent, theirs)) body[ours] = sent[theirs];
  }
  const [, width, height] = (typeof sent.size === 'string' && readSize(sent.size)) || [];
  if (width !== undefined) Object.assign(body, { width: Number(width), height: Number(height) });
  const parsed = imageBody.safeParse(sent);
  const form = sent.stream === true ? 'events' : sent.response_format === 'b64_json' ? 'b64_json' : 'url';
  return { body, problem: parsed.success ? null : describeIssues(parsed.error.issues), form };
}
