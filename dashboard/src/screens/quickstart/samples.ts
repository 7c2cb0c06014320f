import type { GenerationAnswer, IdentityAnswer } from '../../lib/types.ts';
import { defaultPrompt } from '../../lib/code-samples.ts';
import { countCharacters } from '../../lib/text.ts';

const maxPromptLength = 1000;

/** The prompt of the samples: the reader's, or the default while the API would refuse the reader's. */
export function samplePrompt(entered: string): string {
  const usable = entered.trim() !== '' && promptProblem(entered) === null;
  return usable ? entered : defaultPrompt;
}

export function promptProblem(entered: string): string | null {
  const length = countCharacters(entered);
  return length > maxPromptLength ? `Use at most ${maxPromptLength} characters; these are ${length}.` : null;
}

/** Placeholders for the reader to replace. */
const standIn = { id: 'YOUR_IDENTITY_ID', name: 'your identity', description: '' };

/** The chosen identity, else the first available one, else the first one, else a placeholder. */
export function identityToShow(
  identities: readonly IdentityAnswer[],
  chosenId: string | null,
): Pick<IdentityAnswer, 'id' | 'name' | 'description'> {
  return (
    identities.find(({ id }) => id === chosenId) ??
    identities.find(({ available }) => available) ??
    identities[0] ??
    standIn
  );
}

interface SampleAnswerOptions {
  identity: { id: string; name: string };
  creditsLimit: number;
  /** ISO 8601 UTC. */
  periodResetDate: string;
  requestId: string;
}

/** The answer of POST /generate to the sample request, with a shortened link. */
export function sampleAnswer(options: SampleAnswerOptions): GenerationAnswer {
  const { requestId, identity, creditsLimit, periodResetDate } = options;
  return {
    requestId,
    outputs: ['https://…/output-0.png?…'],
    previews: ['https://…/preview-0.webp?…'],
    identity,
    identityVersion: 1,
    referenceImagesUsed: 0,
    usage: {
      creditsUsed: 1,
      creditsLimit,
      creditsRemaining: creditsLimit - 1,
      creditsCharged: 1,
      periodResetDate,
    },
    processingTimeMs: 1094,
    seed: 2451339127,
  };
}

export const answerFields: Record<keyof GenerationAnswer, string> = {
  requestId: 'The name of this request. Keep it: it finds the images again, and our help starts with it.',
  outputs: 'A link for each image, a PNG. Each works for 1 hour.',
  previews: 'A small copy of each image, a WebP, for pages that show many.',
  identity: 'The identity that made the images.',
  identityVersion: 'Its version. Send it again, too, for the same images.',
  referenceImagesUsed: 'How many reference images were used; none here.',
  usage: 'What the request cost, and how your billing period stands now.',
  processingTimeMs: 'How long it took, in milliseconds.',
  seed: 'Send it again with the same parameters for the same images.',
};
