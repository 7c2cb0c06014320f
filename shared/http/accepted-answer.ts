import type { AcceptedGeneration } from '../generations/answer-contract.ts';
import type { Generation } from '../generations/generation.ts';
import { generationPath } from '../routes/table.ts';
import type { Answer } from './answer.ts';
import type { ApiRequest } from './request.ts';

/** An estimate: a model that is ready and idle has finished most requests by then. */
const firstPollSeconds = 2;

/**
 * The answer to a request that runs without its caller: where its record is, and when to look at it.
 * @param secondsUntilReady null where the model is not known to be starting.
 */
export function acceptedAnswer(
  { basePath }: Pick<ApiRequest, 'basePath'>,
  { requestId, credits }: Generation,
  secondsUntilReady: number | null,
): Answer {
  const body: AcceptedGeneration = { requestId, status: 'QUEUED', creditsReserved: credits };
  const path = generationPath.replace('{requestId}', requestId);
  return {
    status: 202,
    headers: {
      location: `${basePath}${path}`,
      'preference-applied': 'respond-async',
      'retry-after': String(secondsUntilReady ?? firstPollSeconds),
    },
    body,
  };
}
