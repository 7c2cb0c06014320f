import { objectStore } from '../shared/images/object-store.ts';
import { failedInvocation } from '../shared/generations/worker-contract.ts';
import { lazy } from '../shared/base/lazy.ts';
import { runsOfInvocation } from '../shared/base/ids.ts';
import { loggableError } from '../shared/base/log.ts';
import { embeddedMetrics, recordingMeter } from '../shared/base/meter.ts';
import { openRuntime } from '../shared/http/runtime.ts';
import { generationStore } from '../shared/generations/store.ts';
import { endAbandoned } from '../shared/generations/sweep.ts';

const runtime = lazy(openRuntime);
const errorMessage =
  'The image was not finished: the run that should have made it failed because of a fault of ours.';

/**
 * Ends a request that `run-generation` could not run: it crashed, or it never got to it. What a run of another invocation
 * has begun goes on. Lambda tries this again when it fails. If that fails too, the sweep ends the request when its lease is over.
 */
export async function handler(event: unknown): Promise<void> {
  const { env, table, clock, log } = runtime();
  const parsed = failedInvocation.safeParse(event);
  // Another try would find the same. What is wrong with it may quote what it should not, so it is not logged.
  if (!parsed.success) return log.error('not a record of a failed invocation', {});
  const { requestContext, requestPayload } = parsed.data;
  const ended = await endAbandoned(
    requestPayload,
    {
      generations: generationStore(table()),
      objects: objectStore(env.bucketName),
      clock,
      logFault: (requestId, what, error) => log.error(what, { requestId, causes: loggableError(error) }),
    },
    { errorMessage, invocation: runsOfInvocation(requestContext.requestId) },
  );
  const meter = recordingMeter();
  if (ended !== null) {
    meter.add('creditsReserved', ended.credits);
    meter.add('creditsReleased', ended.credits);
  }
  log.info('run failed', {
    ...requestPayload,
    condition: requestContext.condition,
    released: ended !== null,
    ...embeddedMetrics(meter, env.serviceName).metrics,
  });
}
