import type { QueuedGeneration } from './queue-contract.ts';
import { ServiceError } from '../base/errors.ts';
import { messageQueue } from '../base/message-queue.ts';
import { tenantOf } from '../model/tenant.ts';

export type GenerationQueue = ReturnType<typeof generationQueue>;

/**
 * Stored requests whose callers do not wait, for the function that runs them.
 * @param sqsUrl where it is not AWS's own
 */
export function generationQueue(url: string, sqsUrl: string | null = null) {
  const queue = messageQueue(url, sqsUrl);
  return {
    /**
     * The queue has the request once this returns, perhaps twice: no request is begun twice.
     * @throws SERVICE_UNAVAILABLE when the queue did not take it.
     */
    async add({ licenseId, requestId, traceparent }: QueuedGeneration): Promise<void> {
      await queue.send({ licenseId, requestId, traceparent }, tenantOf(licenseId)).catch((cause: unknown) => {
        const sentence = 'The request could not be handed over to be generated. Try again shortly.';
        throw new ServiceError('SERVICE_UNAVAILABLE', sentence, { cause });
      });
    },

    /** Has a message come back. */
    bringBack: queue.bringBack,
  };
}
