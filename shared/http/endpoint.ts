import middy from '@middy/core';
import { executionModeStandard } from '@middy/core/executionModeStandard';
import { executionModeStreamifyResponse } from '@middy/core/StreamifyResponse';
import { sessionVerifier } from '../accounts/session-verifier.ts';
import { accountStore } from '../accounts/store.ts';
import { readEnvironment } from '../base/config.ts';
import { newRequestId } from '../base/ids.ts';
import type { ServiceError } from '../base/errors.ts';
import type { Route } from '../routes/route.ts';
import { apiKeyStore } from '../keys/store.ts';
import { licenseStore } from '../licenses/store.ts';
import { rateLogStore } from '../limits/rate-log-store.ts';
import { errorAnswer, toProxyAnswer, type Answer } from './answer.ts';
import { authenticate, type AccessDeps } from './authenticate.ts';
import { asServiceError } from './backend-failure.ts';
import type { CallerOf } from './callers.ts';
import { corsHeaders } from './cors.ts';
import { refusedKeeper } from '../limits/refusals.ts';
import { countRefusal, type RefusalCountDeps } from './count-refusal.ts';
import { jsonLog, loggableError } from '../base/log.ts';
import { embeddedMetrics } from '../base/meter.ts';
import { traceFields } from '../base/trace-context.ts';
import { noteError, readRequest, type ApiRequest } from './request.ts';
import { lazy } from '../base/lazy.ts';
import { openRuntime, type Runtime } from './runtime.ts';

export interface EndpointSpec<R extends Route, Deps> {
  deps(runtime: Runtime): Deps;
  /** @default the API's own shape of errors */
  errorAnswer?(error: ServiceError): Answer;
  /** Runs beside the answer of an error, whichever step it came from. What it throws is ignored. */
  afterError?(input: { request: ApiRequest; error: ServiceError; deps: Deps }): Promise<void>;
  /** Begins once the caller has access and is within the route's limit. */
  run(input: { request: ApiRequest; caller: CallerOf<R>; deps: Deps; runtime: Runtime }): Promise<Answer>;
}

/** The Lambda handler of a route: authenticates, runs, answers every error in one shape, logs one line. */
export function endpoint<R extends Route, Deps>(route: R, spec: EndpointSpec<R, Deps>) {
  const setUp = lazy(() => {
    const runtime = openRuntime();
    return {
      runtime,
      deps: spec.deps(runtime),
      access: accessDeps(route, runtime),
      mayKeep: refusedKeeper(),
    };
  });

  const answer = async (request: ApiRequest): Promise<Answer> => {
    const { runtime, deps, access } = setUp();
    const caller = access === null ? null : await authenticate(request, route, access);
    return spec.run({ request, caller: caller as CallerOf<R>, deps, runtime });
  };

  const afterError = async (request: ApiRequest, error: ServiceError): Promise<void> => {
    await spec.afterError?.({ request, error, ...setUp() });
  };

  const executionMode = route.streams ? executionModeStreamifyResponse : executionModeStandard;
  return middy({ executionMode, requestEnd: ({ event }) => finish(route, event as ApiRequest, setUp) })
    .use(
      requestFrame((error, request) => {
        request.background.push(afterError(request, error));
        return (spec.errorAnswer ?? errorAnswer)(error);
      }),
    )
    .handler(answer as never);
}

/** Runs first and last in every request: gives it an id, makes answers of errors, adds the common headers. */
function requestFrame(toAnswer: (error: ServiceError, request: ApiRequest) => Answer) {
  const log = jsonLog();
  const allowedOrigins = lazy(() => readEnvironment().allowedOrigins);
  const render = (request: ApiRequest, answer: Answer) => {
    request.logFields.status = answer.status;
    return toProxyAnswer(answer, { ...corsHeaders(request, allowedOrigins()), ...request.responseHeaders });
  };
  return {
    before(middyRequest: { event: unknown }): void {
      const nowMs = Date.now();
      middyRequest.event = readRequest(middyRequest.event as never, newRequestId(nowMs), nowMs);
    },
    after(middyRequest: { event: unknown; response: unknown }): void {
      middyRequest.response = render(middyRequest.event as ApiRequest, middyRequest.response as Answer);
    },
    onError(middyRequest: { event: unknown; error: unknown; response: unknown }): void {
      const request = middyRequest.event as ApiRequest;
      const error = asServiceError(middyRequest.error);
      const ours = noteError(request, error);
      if (error.cause !== undefined) {
        const { requestId } = request;
        const { code, cause } = error;
        const trace = traceFields(request.traceparent);
        log.error('cause', { requestId, ...trace, code, causes: loggableError(cause) });
      }
      const answer = toAnswer(error, request);
      if (!ours && answer.status >= 500) request.meter.add('refusedWith5xx', 1);
      middyRequest.response = render(request, answer);
    },
  };
}

type FinishDeps = { runtime: Runtime } & Pick<RefusalCountDeps, 'mayKeep'>;

/** The last of a request: what a streamed answer still does, the count of its refusal, its line in the log. */
async function finish(route: Route, request: ApiRequest, setUp: () => FinishDeps): Promise<void> {
  await Promise.allSettled(request.background);
  if (request.refusalOwner !== null) {
    const { runtime, mayKeep } = setUp();
    await countRefusal(request, route, { ...runtime, mayKeep });
  }
  const { requestId, logFields, meter, receivedAtMs } = request;
  const { metrics, extraRecords } = embeddedMetrics(meter, readEnvironment().serviceName);
  const log = jsonLog();
  log.info('request', {
    requestId,
    route: `${route.method} ${route.path}`,
    ...logFields,
    durationMs: Date.now() - receivedAtMs,
    ...metrics,
  });
  for (const record of extraRecords) log.info('metric', { requestId, ...record });
}

function accessDeps(route: Route, { env, table, clock, log }: Runtime): AccessDeps | null {
  if (route.auth === 'none') return null;
  return {
    apiKeys: apiKeyStore(table()),
    licenses: licenseStore(table()),
    accounts: accountStore(table()),
    rateLogs: rateLogStore(table()),
    sessions: lazy(() => sessionVerifier(env.session)),
    clock,
    log,
  };
}
