import {
  queueEvent,
  queuedFields,
  queuedOf,
  type QueueAnswer,
  type QueuedGeneration,
} from '../shared/generations/queue-contract.ts';
import { runDeps } from '../shared/http/run-deps.ts';
import { lazy } from '../shared/base/lazy.ts';
import { countError, embeddedMetrics, recordingMeter, type RecordingMeter } from '../shared/base/meter.ts';
import { openRuntime } from '../shared/http/runtime.ts';
import { identityCatalog, identityStore } from '../shared/identities/store.ts';
import { generationQueue } from '../shared/generations/generation-queue.ts';
import { runAccepted } from '../shared/generations/run-accepted.ts';
import { NotYet } from '../shared/generations/try-model.ts';

const runtime = lazy(openRuntime);
const deps = lazy(() => {
  const { env, table, clock } = runtime();
  return {
    ...runDeps(runtime()),
    table: table(),
    identities: identityCatalog(identityStore(table()), clock),
    queue: generationQueue(env.generationQueueUrl, env.sqsUrl),
  };
});

/** Otherwise a request whose run failed would come back only after its deadline. */
const secondsAfterFailure = 15;

/**
 * Runs a request whose caller does not wait. The queue brings each at least once. A request whose model has not begun goes
 * back to it for a pause, so that no execution waits.
 */
export async function handler(event: unknown): Promise<QueueAnswer> {
  const { log } = runtime();
  const [{ messageId, receiptHandle, body, attributes }] = queueEvent.parse(event).Records;
  const queued = queuedOf(body);
  if (queued === null) {
    log.error('not a request to run', { messageId });
    return { batchItemFailures: [] };
  }
  const { queue } = deps();
  try {
    const pauseMs = await tryToRun(queued, Number(attributes.ApproximateReceiveCount));
    if (pauseMs === null) return { batchItemFailures: [] };
    await queue.bringBack(receiptHandle, Math.ceil(pauseMs / 1000));
    return { batchItemFailures: [{ itemIdentifier: messageId }] };
  } catch (error) {
    await queue.bringBack(receiptHandle, secondsAfterFailure).catch(() => {});
    throw error;
  }
}

/** @returns how long to wait before the next try; null where none is needed */
async function tryToRun(queued: QueuedGeneration, attempt: number): Promise<number | null> {
  const { log, clock } = runtime();
  const startedMs = clock.now();
  const meter = recordingMeter();
  const fields = queuedFields(queued);
  try {
    const ended = await runAccepted(queued, attempt, { ...deps(), meter, traceparent: queued.traceparent });
    if (ended === null) {
      log.info('nothing to run', fields);
      return null;
    }
    const { keyId, status, errorCode } = ended;
    logRun('request', meter, {
      ...fields,
      route: 'run-generation',
      keyId,
      outcome: status,
      ...(errorCode === null ? {} : { code: errorCode }),
      durationMs: clock.now() - startedMs,
    });
    return null;
  } catch (error) {
    if (!(error instanceof NotYet)) throw error;
    const { cause, pauseMs } = error;
    // At once: the request may wait for minutes yet, or be generated after all.
    if (!cause.noFault) countError(meter, cause.code, cause);
    logRun('not yet', meter, { ...fields, attempt, pauseMs, code: cause.code });
    return pauseMs;
  }
}

function logRun(
  message: string,
  meter: RecordingMeter,
  fields: { requestId: string } & Record<string, unknown>,
): void {
  const { log, env } = runtime();
  const { metrics, extraRecords } = embeddedMetrics(meter, env.serviceName);
  log.info(message, { ...fields, ...metrics });
  for (const record of extraRecords) log.info('metric', { requestId: fields.requestId, ...record });
}
