import { objectStore } from '../shared/images/object-store.ts';
import { queueEvent, queuedFields, queuedOf } from '../shared/generations/queue-contract.ts';
import { lazy } from '../shared/base/lazy.ts';
import { loggableError } from '../shared/base/log.ts';
import { embeddedMetrics, recordingMeter } from '../shared/base/meter.ts';
import { openRuntime } from '../shared/http/runtime.ts';
import { generationStore } from '../shared/generations/store.ts';
import { endAbandoned } from '../shared/generations/sweep.ts';

const runtime = lazy(openRuntime);
const errorMessage =
  'The image was not finished: the run that should have made it failed because of a fault of ours.';

/**
 * Ends a request that the queue brought to `run-generation` too often. What a run has begun is left to it, and to the sweep.
 * The queue brings it again when this fails. Whatever comes first, the sweep ends the request when its lease is over.
 */
export async function handler(event: unknown): Promise<void> {
  const { env, table, clock, log } = runtime();
  const [{ body, messageId, attributes }] = queueEvent.parse(event).Records;
  const queued = queuedOf(body);
  if (queued === null) return log.error('not a request to run', { messageId });
  const ended = await endAbandoned(
    queued,
    {
      generations: generationStore(table()),
      objects: objectStore(env.bucketName),
      clock,
      logFault: (requestId, what, error) => log.error(what, { requestId, causes: loggableError(error) }),
    },
    { errorMessage, leavesBegun: true },
  );
  const meter = recordingMeter();
  if (ended !== null) {
    meter.add('creditsReserved', ended.credits);
    meter.add('creditsReleased', ended.credits);
  }
  log.info('run failed', {
    ...queuedFields(queued),
    received: attributes.ApproximateReceiveCount,
    released: ended !== null,
    ...embeddedMetrics(meter, env.serviceName).metrics,
  });
}
