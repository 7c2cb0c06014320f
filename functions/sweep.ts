import { objectStore } from '../shared/images/object-store.ts';
import { loggableError } from '../shared/base/log.ts';
import { embeddedMetrics, recordingMeter } from '../shared/base/meter.ts';
import { listUnbound } from '../shared/billing/unbound.ts';
import { lazy } from '../shared/base/lazy.ts';
import { openRuntime } from '../shared/http/runtime.ts';
import { deletionStore } from '../shared/generations/deletion-store.ts';
import { generationStore } from '../shared/generations/store.ts';
import { sweep } from '../shared/generations/sweep.ts';

const runtime = lazy(openRuntime);

/**
 * Each minute: gives back the credits that dead handlers still hold, and erases what is left of deleted requests. Fails when
 * it could not do so for one, so that an alarm is raised. It also reports subscriptions that nobody owns.
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
  const unbound = await listUnbound(table(), clock.now()).catch((error: unknown) => {
    log.error('subscriptions without an owner were not listed', { causes: loggableError(error) });
    result.failed += 1;
    return [];
  });
  const meter = recordingMeter();
  meter.add('leasesReleased', result.released);
  meter.add('creditsReleased', result.creditsReleased);
  meter.add('sweepFailures', result.failed);
  if (unbound.length > 0) meter.add('unboundSubscriptions', unbound.length);
  const listed = unbound.length > 0 && { unbound };
  log.info('sweep', { ...result, ...listed, ...embeddedMetrics(meter, env.serviceName).metrics });
  if (result.failed > 0) throw new Error(`${result.failed} things could not be ended, erased or listed`);
}
