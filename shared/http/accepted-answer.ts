import type { AcceptedGeneration } from '../generations/answer-contract.ts';
import type { Generation } from '../generations/generation.ts';
import * as routes from '../routes/table.ts';
import type { Answer } from './answer.ts';
import type { ApiRequest } from './request.ts';

/** An estimate: a model that is awake and idle has painted most requests by then. */
const firstPollSeconds = 2;

/**
 * The answer to a request that runs without its caller: where its record is, and when to look at it.
 * @param secondsUntilAwake null where the model is not known to wake.
 */
export function acceptedAnswer(
  { basePath }: Pick<ApiRequest, 'basePath'>,
  { requestId, credits }: Generation,
  secondsUntilAwake: number | null,
): Answer {
  const body: AcceptedGeneration = { requestId, status: 'QUEUED', creditsReserved: credits };
  const path = routes.getGeneration.path.replace('{requestId}', requestId);
  return {
    status: 202,
    headers: {
      location: `${basePath}${path}`,
      'preference-applied': 'respond-async',
      'retry-after': String(secondsUntilAwake ?? firstPollSeconds),
    },
    body,
  };
}
