import middy from '@middy/core';
import { executionModeStandard } from '@middy/core/executionModeStandard';
import { executionModeStreamifyResponse } from '@middy/core/StreamifyResponse';
import { sessionVerifier } from '../adapters/session-verifier.ts';
import { readEnvironment } from '../config.ts';
import { newRequestId } from '../domain/ids.ts';
import { ServiceError, serviceBusy } from '../errors.ts';
import type { Route } from '../routes.ts';
import { apiKeyStore } from '../store/api-key-store.ts';
import { licenseStore } from '../store/license-store.ts';
import { rateLogStore } from '../store/rate-log-store.ts';
import { errorAnswer, toProxyAnswer, type Answer } from './answer.ts';
import { authenticate, type AccessDeps } from './authenticate.ts';
import { isBackendFailure } from './backend-failure.ts';
import type { CallerOf, Credential, CredentialOf } from './callers.ts';
import { corsHeaders } from './cors.ts';
import { jsonLog, loggableError } from './log.ts';
import { embeddedMetrics } from './meter.ts';
import { readRequest, type ApiRequest } from './request.ts';
import { once, openRuntime, type Runtime } from './runtime.ts';

export interface EndpointSpec<R extends Route, Deps, Loaded> {
  deps(runtime: Runtime): Deps;
  /** Reads of the route's own, begun while the caller's access is still being checked. */
  load?(input: { request: ApiRequest; credential: CredentialOf<R>; deps: Deps }): Promise<Loaded>;
  run(input: {
    request: ApiRequest;
    caller: CallerOf<R>;
    deps: Deps;
    loaded: Loaded;
    runtime: Runtime;
  }): Promise<Answer>;
}

/** The Lambda handler of a route: authenticates, runs, answers every error in the API's shape, logs one line. */
export function endpoint<R extends Route, Deps, Loaded = undefined>(
  route: R,
  spec: EndpointSpec<R, Deps, Loaded>,
) {
  const setUp = once(() => {
    const runtime = openRuntime();
    return { runtime, deps: spec.deps(runtime), access: accessDeps(route, runtime) };
  });

  const answer = async (request: ApiRequest): Promise<Answer> => {
    const { runtime, deps, access } = setUp();
    if (access === null) {
      return spec.run({ request, caller: null as CallerOf<R>, deps, loaded: undefined as Loaded, runtime });
    }
    const load = (credential: Credential) =>
      spec.load
        ? spec.load({ request, credential: credential as CredentialOf<R>, deps })
        : Promise.resolve(undefined as Loaded);
    const { caller, loaded } = await authenticate(request, route, access, load);
    return spec.run({ request, caller: caller as CallerOf<R>, deps, loaded, runtime });
  };

  const executionMode = route.streams ? executionModeStreamifyResponse : executionModeStandard;
  return middy({ executionMode, requestEnd: ({ event }) => finish(route, event as ApiRequest) })
    .use(requestFrame())
    .handler(answer as never);
}

/** The first and last thing in every request: ids in, headers and errors out. */
function requestFrame() {
  const log = jsonLog();
  const allowedOrigins = once(() => readEnvironment().allowedOrigins);
  const render = (request: ApiRequest, answer: Answer) => {
    request.facts.status = answer.status;
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
      request.facts.code = error.code;
      if (error.cause !== undefined) {
        const { requestId } = request;
        log.error('cause', { requestId, code: error.code, causes: loggableError(error.cause) });
      }
      middyRequest.response = render(request, errorAnswer(error));
    },
  };
}

/** Waits for what a streamed answer still does, then logs the whole request in one line. */
async function finish(route: Route, request: ApiRequest): Promise<void> {
  await Promise.allSettled(request.background);
  const { requestId, facts, meter, receivedAtMs } = request;
  if (facts.code !== undefined) meter.count('errors', String(facts.code));
  const { line, more } = embeddedMetrics(meter, readEnvironment().serviceName);
  const log = jsonLog();
  log.info('request', {
    requestId,
    route: `${route.method} ${route.path}`,
    ...facts,
    durationMs: Date.now() - receivedAtMs,
    ...line,
  });
  for (const metric of more) log.info('metric', { requestId, ...metric });
}

/** What nobody foresaw stays inside; the caller learns only that it was not their fault, and whether to come back. */
export function asServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  if (isBackendFailure(error)) return serviceBusy(error);
  const sentence = 'Something went wrong on our side. Try again; if it persists, tell us the X-Request-Id.';
  return new ServiceError('INTERNAL_ERROR', sentence, { cause: error });
}

function accessDeps(route: Route, { env, table, clock, log }: Runtime): AccessDeps | null {
  if (route.auth === 'none') return null;
  return {
    apiKeys: apiKeyStore(table()),
    licenses: licenseStore(table()),
    rateLogs: rateLogStore(table()),
    sessions: once(() => sessionVerifier(env.session)),
    clock,
    log,
  };
}
