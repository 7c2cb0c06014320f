import { embeddedMetrics, recordingMeter } from '../shared/runtime/meter.ts';
import { lazy } from '../shared/runtime/lazy.ts';
import { openRuntime } from '../shared/runtime/runtime.ts';
import { generationStore } from '../shared/store/generation-store.ts';
import { sweep } from '../shared/workflow/sweep.ts';

const runtime = lazy(openRuntime);

/**
 * Each minute: gives back the credits that dead handlers still hold. Fails when a request could not be ended, so that an
 * alarm is raised.
 */
export async function handler(): Promise<void> {
  const { env, table, clock, log } = runtime();
  const result = await sweep(generationStore(table()), clock);
  const meter = recordingMeter();
  meter.add('leasesReleased', result.released);
  meter.add('creditsReleased', result.creditsReleased);
  meter.add('sweepFailures', result.failed);
  log.info('sweep', { ...result, ...embeddedMetrics(meter, env.serviceName).metrics });
  if (result.failed > 0) throw new Error(`${result.failed} expired requests could not be ended`);
}
