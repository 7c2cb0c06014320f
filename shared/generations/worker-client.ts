import type { GenerationRef } from './worker-contract.ts';
import { isNoFault, ServiceError } from '../base/errors.ts';
import { FinalAnswer } from '../base/fresh-fetch.ts';
import { lambdaInvoker } from '../base/lambda-invoker.ts';

/** Both tries together take no longer than two seconds: the caller waits for them. */
const tries = 2;
const tryWithinMs = 1000;

export type GenerationWorkerClient = ReturnType<typeof generationWorkerClient>;

/**
 * Has stored requests run by the function that nobody waits for.
 * @param url of the function's invocations.
 */
export function generationWorkerClient(url: string) {
  const invoke = lambdaInvoker(url);
  return {
    /**
     * Lambda has taken the event once this returns. A try whose answer was lost may have been taken too: the worker
     * begins no request twice.
     * @throws SERVICE_UNAVAILABLE when Lambda did not take the event.
     */
    async start({ licenseId, requestId }: GenerationRef): Promise<void> {
      let cause: unknown;
      for (let attempt = 1; attempt <= tries; attempt++) {
        try {
          const event = { licenseId, requestId };
          const answer = await invoke({ type: 'Event', event, withinMs: tryWithinMs });
          await answer.body?.cancel();
          return;
        } catch (error) {
          cause = error;
          if (error instanceof FinalAnswer) break;
        }
      }
      const sentence = 'The request could not be handed over to be generated. Try again shortly.';
      throw new ServiceError('SERVICE_UNAVAILABLE', sentence, { cause, noFault: isNoFault(cause) });
    },
  };
}
