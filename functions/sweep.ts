import { freshFetch } from '../shared/base/fresh-fetch.ts';
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
 * it could not do so for one, so that an alarm is raised. It also reports subscriptions that nobody owns, and a dashboard
 * that does not answer.
 */
export async function handler(): Promise<void> {
  const { env, table, clock, log } = runtime();
  const dashboard = faultOfDashboard(env.dashboardUrl);
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
  const dashboardFault = await dashboard;
  if (dashboardFault !== null) log.error('the dashboard does not answer', dashboardFault);
  const meter = recordingMeter();
  meter.add('leasesReleased', result.released);
  meter.add('creditsReleased', result.creditsReleased);
  meter.add('sweepFailures', result.failed);
  if (unbound.length > 0) meter.add('unboundSubscriptions', unbound.length);
  if (dashboardFault !== null) meter.add('dashboardFaults', 1);
  const listed = unbound.length > 0 && { unbound };
  log.info('sweep', { ...result, ...listed, ...embeddedMetrics(meter, env.serviceName).metrics });
  if (result.failed > 0) throw new Error(`${result.failed} things could not be ended, erased or listed`);
}

/**
 * What every visit begins with, as a visitor gets it: by its name and certificate, CloudFront and the bucket, where this
 * file is asked for anew each time.
 */
async function faultOfDashboard(url: string | null): Promise<Record<string, unknown> | null> {
  if (url === null) return null;
  try {
    const answer = await freshFetch(`${url}config.json`, { signal: AbortSignal.timeout(5000) });
    await answer.arrayBuffer();
    return answer.ok ? null : { status: answer.status };
  } catch (error) {
    return { causes: loggableError(error) };
  }
}
