import { modelServer, type SleepingComponent } from '../model/client.ts';
import { loggableError } from '../base/log.ts';
import type { Runtime } from './runtime.ts';
import { generationStore } from '../generations/store.ts';
import { wakingStore } from '../model/cold-start-store.ts';
import type { DiscardDeps } from '../references/discard-references.ts';
import { wakingNotes } from '../model/cold-start-notes.ts';
import { imageStore } from './image-store.ts';

/** What running a request takes, whether its caller waits for it or not. */
export function runDeps(runtime: Runtime) {
  const { env, table, clock, log, stopping } = runtime;
  const logFault: DiscardDeps['logFault'] = (requestId, what, error) =>
    log.error(what, { requestId, causes: loggableError(error) });
  return {
    generations: generationStore(table()),
    objects: imageStore(runtime),
    model: modelServer(env.modelEndpointName, {
      clock,
      component: sleepingComponent(runtime),
      onBreaker: (breaker) => log.info('model breaker', { ...breaker }),
    }),
    clock,
    stopping,
    embedParameters: env.embedParameters,
    logFault,
  };
}

function sleepingComponent({ env, table, clock, log }: Runtime): SleepingComponent | null {
  const name = env.modelComponentName;
  if (name === null) return null;
  const onFault = (error: unknown) => log.error('waking not noted', { causes: loggableError(error) });
  return { name, notes: wakingNotes({ waking: wakingStore(table()), clock, onFault }) };
}
