import { modelServer } from '../adapters/model-server.ts';
import { objectStore } from '../adapters/object-store.ts';
import { loggableError } from '../runtime/log.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { generationStore } from '../store/generation-store.ts';
import type { DiscardDeps } from '../workflow/discard-references.ts';

/** What running a request takes, whether its caller waits for it or not. */
export function runDeps({ env, table, clock, log, stopping }: Runtime) {
  const logFault: DiscardDeps['logFault'] = (requestId, what, error) =>
    log.error(what, { requestId, causes: loggableError(error) });
  return {
    generations: generationStore(table()),
    objects: objectStore(env.bucketName),
    model: modelServer(env.modelEndpointName, {
      clock,
      onBreaker: (breaker) => log.info('model breaker', { ...breaker }),
    }),
    clock,
    stopping,
    embedParameters: env.embedParameters,
    logFault,
  };
}
