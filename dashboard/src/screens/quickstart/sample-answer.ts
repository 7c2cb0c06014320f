import type { GenerationAnswer } from '../../api/types.ts';

interface AnswerFacts {
  identity: { id: string; name: string };
  creditsLimit: number;
  /** ISO 8601 UTC. */
  periodResetDate: string;
  requestId: string;
}

/** What POST /generate answers to the sample request, its link cut short. */
export function sampleAnswer(facts: AnswerFacts): GenerationAnswer {
  const { requestId, identity, creditsLimit, periodResetDate } = facts;
  return {
    requestId,
    outputs: ['https://…/output-0.png?…'],
    identity,
    referenceImagesUsed: 0,
    usage: {
      creditsUsed: 1,
      creditsLimit,
      creditsRemaining: Math.max(0, creditsLimit - 1),
      creditsCharged: 1,
      periodResetDate,
    },
    processingTimeMs: 1094,
    seed: 2451339127,
  };
}

/** What each member is for, in the answer's order. */
export const answerFields: Record<keyof GenerationAnswer, string> = {
  requestId: 'The name of this request. Keep it: it finds the images again, and our help starts with it.',
  outputs: 'A link for each image, a PNG. Each works for 1 hour.',
  identity: 'The identity that made the images.',
  referenceImagesUsed: 'How many reference images were used; none here.',
  usage: 'What the request cost, and how your billing period stands now.',
  processingTimeMs: 'How long it took, in milliseconds.',
  seed: 'Send it again with the same parameters for the same images.',
};
