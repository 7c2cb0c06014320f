import { objectStore } from '../shared/images/object-store.ts';
import { loggableError } from '../shared/base/log.ts';
import { embeddedMetrics, recordingMeter } from '../shared/base/meter.ts';
import { lazy } from '../shared/base/lazy.ts';
import { openRuntime } from '../shared/http/runtime.ts';
import { deletionStore } from '../shared/generations/deletion-store.ts';
import { generationStore } from '../shared/generations/store.ts';
import { sweep } from '../shared/generations/sweep.ts';

const runtime = lazy(openRuntime);

/**
 * Each minute: gives back the credits that dead handlers still hold, and erases what is left of deleted requests. Fails when
 * it could not do so for one, so that an alarm is raised.
 */
export async function handler(): Promise<void> {
  const { env, table, clock, log } = runtime();
  const result = await sweep({
    generations: generationStore(table()),
    deletions: deletionStore(table()),
    objects: objectStore(env.bucketName),
    clock,
    logFault: (requestId, what, error) => log.error(what, { requestId, causes: loggableError(error) }),
  });
  const meter = recordingMeter();
  meter.add('leasesReleased', result.released);
  meter.add('creditsReleased', result.creditsReleased);
  meter.add('sweepFailures', result.failed);
  log.info('sweep', { ...result, ...embeddedMetrics(meter, env.serviceName).metrics });
  if (result.failed > 0) throw new Error(`${result.failed} requests could not be ended or erased`);
}
