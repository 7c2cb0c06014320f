import * as z from 'zod/mini';
import { awsUrl, signedFetch, type SigningConfig } from '../base/signed-fetch.ts';
import type { AskAboutPrompt } from './prompt-check.ts';
import { readVerdict } from './read-verdict.ts';

export interface BedrockCheckDeps {
  guardrailId: string;
  guardrailVersion: string;
  config: SigningConfig;
  /** Where Bedrock's runtime is, if not at its usual address. */
  bedrockUrl: string | null;
}

/** Of what a guardrail may find, each with what it did about it (Bedrock Runtime API, "GuardrailAssessment"). */
const found = z.optional(z.array(z.object({ type: z.optional(z.string()), action: z.optional(z.string()) })));
const answerContract = z.object({
  action: z.enum(['NONE', 'GUARDRAIL_INTERVENED']),
  assessments: z._default(
    z.array(
      z.object({
        contentPolicy: z.optional(z.object({ filters: found })),
        topicPolicy: z.optional(z.object({ topics: found })),
        wordPolicy: z.optional(z.object({ customWords: found, managedWordLists: found })),
        sensitiveInformationPolicy: z.optional(z.object({ piiEntities: found, regexes: found })),
      }),
    ),
    [],
  ),
});

type Assessment = z.infer<typeof answerContract>['assessments'][number];
type Found = z.infer<typeof found>;

/** Asks a guardrail of Amazon Bedrock (Bedrock Runtime API, "ApplyGuardrail"). */
export function bedrockCheck({
  guardrailId,
  guardrailVersion,
  config,
  bedrockUrl,
}: BedrockCheckDeps): AskAboutPrompt {
  const send = signedFetch('bedrock', config);
  return async ({ prompt, negativePrompt }, withinMs) => {
    const texts = [prompt, negativePrompt].filter((text) => text !== '');
    const base = bedrockUrl ?? awsUrl('bedrock-runtime', await config.region());
    const answer = await send({
      url: new URL(`/guardrail/${guardrailId}/version/${guardrailVersion}/apply`, base).href,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ source: 'INPUT', content: texts.map((text) => ({ text: { text } })) }),
      withinMs,
    });
    const { action, assessments } = await readVerdict(answer, answerContract);
    return { allowed: action === 'NONE', categories: assessments.flatMap(categoriesOf) };
  };
}

/** What a guardrail calls its own topics, words and expressions is its rule, so those have one name each. */
function categoriesOf(assessment: Assessment): string[] {
  const { contentPolicy, topicPolicy, wordPolicy, sensitiveInformationPolicy: personal } = assessment;
  const acted = (all: Found) => (all ?? []).filter(({ action }) => action !== 'NONE');
  const types = (all: Found) => acted(all).map(({ type = '' }) => type);
  const named = (name: string, ...all: Found[]) => (all.some((some) => acted(some).length > 0) ? [name] : []);
  return [
    ...types(contentPolicy?.filters),
    ...types(wordPolicy?.managedWordLists),
    ...named('denied-topic', topicPolicy?.topics),
    ...named('denied-word', wordPolicy?.customWords),
    ...named('personal-data', personal?.piiEntities, personal?.regexes),
  ];
}
