import {
  fetchReferencesAnswer,
  type FetchReferencesAnswer,
  type FetchReferencesCommand,
} from './contract.ts';
import { isNoFault, ServiceError } from '../base/errors.ts';
import { lambdaInvoker } from '../base/lambda-invoker.ts';

/** Fetching, storing, and a cold start. */
const answerWithinMs = 12_000;

export type ReferenceFetcherClient = ReturnType<typeof referenceFetcherClient>;

/**
 * Has references fetched by the function that may do nothing else.
 * @param url of the function's invocations.
 */
export function referenceFetcherClient(url: string) {
  const invoke = lambdaInvoker(url);
  return {
    /** @throws SERVICE_UNAVAILABLE when it could not be done; trying again may help. */
    async fetch(command: FetchReferencesCommand): Promise<FetchReferencesAnswer['problems']> {
      try {
        const answer = await invoke({ event: command, withinMs: answerWithinMs });
        const { problems } = fetchReferencesAnswer.parse(await answer.json());
        if (problems.length !== command.items.length) throw new Error('an answer for other items');
        return problems;
      } catch (cause) {
        throw new ServiceError(
          'SERVICE_UNAVAILABLE',
          "Reference images can't be read at the moment. Try again shortly.",
          { cause, noFault: isNoFault(cause) },
        );
      }
    },
  };
}
