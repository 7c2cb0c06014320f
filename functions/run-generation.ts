import {
  queueEvent,
  refOf,
  type GenerationRef,
  type QueueAnswer,
} from '../shared/generations/queue-contract.ts';
import { runDeps } from '../shared/http/run-deps.ts';
import { lazy } from '../shared/base/lazy.ts';
import { embeddedMetrics, recordingMeter } from '../shared/base/meter.ts';
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
    identities: identityCatalog(identityStore(table()), clock),
    queue: generationQueue(env.generationQueueUrl),
  };
});

/**
 * Runs a request whose caller does not wait. The queue brings each at least once. A request whose model has not begun goes
 * back to it for a pause, so that no execution waits.
 */
export async function handler(event: unknown): Promise<QueueAnswer> {
  const { log } = runtime();
  const [message] = queueEvent.parse(event).Records;
  const ref = refOf(message.body);
  if (ref === null) log.error('not a request to run', { messageId: message.messageId });
  else {
    const pauseMs = await tryToRun(ref, Number(message.attributes.ApproximateReceiveCount));
    if (pauseMs !== null) {
      await deps().queue.bringBack(message.receiptHandle, Math.ceil(pauseMs / 1000));
      return { batchItemFailures: [{ itemIdentifier: message.messageId }] };
    }
  }
  return { batchItemFailures: [] };
}

/** @returns how long to wait before the next try; null where none is needed */
async function tryToRun(ref: GenerationRef, attempt: number): Promise<number | null> {
  const { log, env, clock } = runtime();
  const startedMs = clock.now();
  const meter = recordingMeter();
  try {
    const ended = await runAccepted(ref, attempt, { ...deps(), meter });
    if (ended === null) {
      log.info('nothing to run', { ...ref });
      return null;
    }
    const { keyId, status, errorCode } = ended;
    const { metrics, extraRecords } = embeddedMetrics(meter, env.serviceName);
    log.info('request', {
      ...ref,
      route: 'run-generation',
      keyId,
      outcome: status,
      ...(errorCode === null ? {} : { code: errorCode }),
      durationMs: clock.now() - startedMs,
      ...metrics,
    });
    for (const record of extraRecords) log.info('metric', { requestId: ref.requestId, ...record });
    return null;
  } catch (error) {
    if (!(error instanceof NotYet)) throw error;
    log.info('not yet', { ...ref, attempt, pauseMs: error.pauseMs });
    return error.pauseMs;
  }
}
