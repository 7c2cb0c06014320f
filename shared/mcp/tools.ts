import type * as z from 'zod/mini';
import { generateArguments, requestArguments, listIdentitiesArguments } from './contract.ts';
import { dryRunAnswer, generationAnswer, storedGeneration } from '../generations/answer-contract.ts';
import { agentIdentityList } from '../identities/contract.ts';
import type { Schema } from '../openapi/schema.ts';
import { argumentsSchema, resultSchema } from './tool-schemas.ts';
import { lazy } from '../base/lazy.ts';

export interface Tool {
  title: string;
  /** What a model knows of it. */
  description: string;
  arguments: z.ZodMiniType;
  answer: z.ZodMiniType;
  hints: {
    readOnlyHint: boolean;
    destructiveHint?: boolean;
    idempotentHint?: boolean;
    openWorldHint?: boolean;
  };
}

const price =
  'It costs numOutputs × ceil(width × height / 1,048,576) credits: one for each image of up to 1024 × 1024 pixels, four at 2048 × 2048.';

export const tools = {
  list_identities: {
    title: 'List identities',
    description:
      'Lists the identities (creator systems, each with a style of its own) that this API key may generate with. `generate` wants the ' +
      '`id` or the `slug` of one that is `available`. Free.',
    arguments: listIdentitiesArguments,
    answer: agentIdentityList,
    hints: { readOnlyHint: true, openWorldHint: false },
  },
  quote: {
    title: 'Quote a generation',
    description:
      'Checks the arguments of `generate` without generating: answers what it would cost and how many credits are left, or the refusal that ' +
      `it would get. Free, but counts in the same limit of requests a minute. ${price}`,
    arguments: generateArguments,
    answer: dryRunAnswer,
    hints: { readOnlyHint: true, openWorldHint: true },
  },
  generate: {
    title: 'Generate images',
    description:
      `Generates images and spends credits of the license. ${price} Only a generation that completes is charged. Answers when the images are ` +
      'finished, in seconds to a minute, with links that open for an hour, a small preview of each image, the seed, and what was charged. To be able to repeat a call whose ' +
      'answer was lost without paying twice, send a new `idempotencyKey` with each new generation and the same one with a repeat.',
    arguments: generateArguments,
    answer: generationAnswer,
    hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  },
  get_generation: {
    title: 'Get a generation',
    description:
      'Fetches an earlier generation of this license by its `requestId`: its status, its parameters, and new links to its images. ' +
      'Generates nothing. Free.',
    arguments: requestArguments,
    answer: storedGeneration,
    hints: { readOnlyHint: true, openWorldHint: false },
  },
  cancel: {
    title: 'Cancel a generation',
    description:
      'Ends a generation that waits or runs, by the `requestId` that the first progress of `generate` tells. It is not charged, and the call ' +
      'of `generate` is refused with the code CANCELLED. What has ended otherwise stays as it is: REQUEST_FINAL. Free.',
    arguments: requestArguments,
    answer: storedGeneration,
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  },
} as const satisfies Record<string, Tool>;

export type ToolName = keyof typeof tools;

/** What the server says of itself to a host's model. */
export const instructions =
  'Generates images from text. First `list_identities`, then `quote` if the price matters, then `generate`. A refusal has a sentence that ' +
  'says what to change, and a code. The links are open to everyone who has them, for an hour at most; `get_generation` signs new ones.';

const storedId = 'Of a stored request: `generate` answers it, and `get_generation` and `cancel` take it.';

/** Of arguments, and of what is answered, that are described otherwise than for callers of POST /generate. */
const descriptions: Record<string, string> = {
  identityId: 'The `id` or the `slug` of one of `list_identities`.',
  identityVersion:
    "A version of the identity, from the answer of an earlier generation. Left out: the active one, `list_identities`' `version`.",
  idempotencyKey:
    'Any 1 to 255 visible ASCII characters. A repeat with the same key and arguments within 24 hours gets the first result and is ' +
    'not charged again.',
  requestId: storedId,
  id: storedId,
  credits: 'What the request would be charged; 0 where its `idempotencyKey` stands for a result already.',
};

/** The tools as clients of the protocol get them. Made once: it is the same for every caller. */
export const toolList = lazy(() =>
  (Object.entries(tools) as [ToolName, Tool][]).map(
    ([name, { title, description, hints, ...contracts }]) => ({
      name,
      title,
      description,
      inputSchema: describe(argumentsSchema(contracts.arguments)),
      outputSchema: describe(resultSchema(contracts.answer)),
      annotations: { title, ...hints },
    }),
  ),
);

/** @param schema one of arguments, or a choice between an answer, whose members are described here, and a refusal */
function describe(schema: Schema): Schema {
  const { properties } = schema.anyOf?.[0] ?? schema;
  for (const [member, description] of Object.entries(descriptions)) {
    if (member in properties) properties[member].description = description;
  }
  return schema;
}
