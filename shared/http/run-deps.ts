import { modelServer, type ScalingComponent } from '../model/client.ts';
import { isFault, ServiceError } from '../base/errors.ts';
import { loggableError } from '../base/log.ts';
import type { Runtime } from './runtime.ts';
import { generationStore } from '../generations/store.ts';
import { coldStartStore } from '../model/cold-start-store.ts';
import type { DiscardDeps } from '../references/discard-references.ts';
import { coldStartNotes } from '../model/cold-start-notes.ts';
import { imageStore } from './image-store.ts';

/** What running a request takes, whether its caller waits for it or not. */
export function runDeps(runtime: Runtime) {
  const { env, table, clock, log, stopping } = runtime;
  const logFault: DiscardDeps['logFault'] = (requestId, what, error) => {
    // What a caller brings about, as by cancelling, is no error of the service.
    const isOurs = !(error instanceof ServiceError) || isFault(error.code, error);
    log[isOurs ? 'error' : 'info'](what, { requestId, causes: loggableError(error) });
  };
  return {
    generations: generationStore(table()),
    objects: imageStore(runtime),
    model: modelServer(env.modelEndpointName, {
      clock,
      component: scalingComponent(runtime),
      onBreaker: (breaker) => log.info('model breaker', { ...breaker }),
    }),
    clock,
    stopping,
    embedParameters: env.embedParameters,
    logFault,
  };
}

function scalingComponent({ env, table, clock, log }: Runtime): ScalingComponent | null {
  const name = env.modelComponentName;
  if (name === null) return null;
  const onFault = (error: unknown) => log.error('waking not noted', { causes: loggableError(error) });
  return { name, notes: coldStartNotes({ store: coldStartStore(table()), clock, onFault }) };
}
