import { generationRef } from '../shared/generations/worker-contract.ts';
import { runsOfInvocation } from '../shared/base/ids.ts';
import { runDeps } from '../shared/http/run-deps.ts';
import { lazy } from '../shared/base/lazy.ts';
import { embeddedMetrics, recordingMeter } from '../shared/base/meter.ts';
import { openRuntime } from '../shared/http/runtime.ts';
import { identityCatalog, identityStore } from '../shared/identities/store.ts';
import { runAccepted } from '../shared/generations/run-accepted.ts';

const runtime = lazy(openRuntime);
const deps = lazy(() => {
  const { table, clock } = runtime();
  return { ...runDeps(runtime()), identities: identityCatalog(identityStore(table()), clock) };
});

/**
 * Runs a request whose caller does not wait. Lambda brings each at least once, and not again when this fails: what it
 * can't bring goes to `release-generation`.
 */
export async function handler(event: unknown, context?: { awsRequestId: string }): Promise<void> {
  const { log, env, clock } = runtime();
  const { licenseId, requestId } = generationRef.parse(event);
  const startedMs = clock.now();
  const meter = recordingMeter();
  const invocation = context && runsOfInvocation(context.awsRequestId);
  const ended = await runAccepted({ licenseId, requestId }, { ...deps(), meter }, invocation);
  if (ended === null) return log.info('nothing to run', { requestId, licenseId });
  const { keyId, status, errorCode } = ended;
  const { metrics, extraRecords } = embeddedMetrics(meter, env.serviceName);
  log.info('request', {
    requestId,
    route: 'run-generation',
    licenseId,
    keyId,
    outcome: status,
    ...(errorCode === null ? {} : { code: errorCode }),
    durationMs: clock.now() - startedMs,
    ...metrics,
  });
  for (const record of extraRecords) log.info('metric', { requestId, ...record });
}
