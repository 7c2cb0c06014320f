import { generationWorkerClient } from '../generations/worker-client.ts';
import { referenceFetcherClient } from '../references/reader-client.ts';
import { bodyFingerprint, readIdempotencyKey } from '../generations/idempotency.ts';
import type { Identity } from '../identities/identity.ts';
import { isId } from '../base/ids.ts';
import {
  hashIdempotencyKey,
  readIdempotencyRecord,
  type IdempotencyRecord,
} from '../generations/idempotency-store.ts';
import { identityCatalog, identityStore, type IdentityCatalog } from '../identities/store.ts';
import { rateLogStore } from '../limits/rate-log-store.ts';
import { periodStore } from '../licenses/period-store.ts';
import type { Table } from '../table/table.ts';
import {
  acceptGeneration,
  finishGeneration,
  type GenerationDeps,
  type GenerationCommand,
  type Observer,
} from '../generations/create.ts';
import { dryRun } from '../generations/dry-run.ts';
import { enqueue, type EnqueueDeps } from '../generations/enqueue.ts';
import type { License } from '../licenses/license.ts';
import { ok, type Answer } from './answer.ts';
import { acceptedAnswer } from './accepted-answer.ts';
import { eventAnswer, wantsEvents, type Emit } from './event-stream.ts';
import { prefersAsync } from './prefer.ts';
import type { ApiRequest } from './request.ts';
import { runDeps } from './run-deps.ts';
import { lazy } from '../base/lazy.ts';
import type { Runtime } from './runtime.ts';

export interface GenerationRequestDeps {
  table: Table;
  identities: IdentityCatalog;
  /** What all requests share. The meter is each request's own. */
  workflow: Omit<GenerationDeps, 'meter'>;
}

/** The same, for requests whose callers need not wait. */
type SharedDeps = Omit<GenerationDeps & EnqueueDeps, 'meter'>;

export function generationDeps(runtime: Runtime): GenerationRequestDeps & { workflow: SharedDeps } {
  const { workflow, ...deps } = waitingDeps(runtime);
  const worker = generationWorkerClient(runtime.env.generationWorkerUrl);
  return { ...deps, workflow: { ...workflow, worker } };
}

/** For a function whose callers wait for every request. */
export function waitingDeps(runtime: Runtime): GenerationRequestDeps {
  const { env, table, clock } = runtime;
  // Not every function that generates may call it, and one that may not has no address of it.
  const references = lazy(() => referenceFetcherClient(env.referenceFetcherUrl));
  return {
    table: table(),
    identities: identityCatalog(identityStore(table()), clock),
    workflow: {
      ...runDeps(runtime),
      periods: periodStore(table()),
      references: { fetch: (command) => references().fetch(command) },
      rateLogs: rateLogStore(table()),
      deadlineSeconds: env.generationDeadlineSeconds,
      asyncDeadlineSeconds: env.asyncDeadlineSeconds,
      retentionDays: env.retentionDays,
    },
  };
}

/** Who wants what. */
export interface GenerationOrder {
  callerId: string;
  /** See `GenerationCommand`. */
  keyBudget: number | null;
  license: License;
  body: Record<string, unknown>;
}

export interface GenerationReads {
  /** The identity that the body names; null where there is none with that id. */
  identity: Identity | null;
  idempotencyKeyHash: string | null;
  idempotencyRecord: IdempotencyRecord | null;
}

/** Reads what a request names, in one round trip. What is wrong with the request is refused later: here it names nothing. */
export async function readForGeneration(
  request: Pick<ApiRequest, 'headers'>,
  { callerId, body }: Pick<GenerationOrder, 'callerId' | 'body'>,
  { table, identities }: Pick<GenerationRequestDeps, 'table'> & { identities: Pick<IdentityCatalog, 'get'> },
): Promise<GenerationReads> {
  const { identityId } = body;
  const idempotencyKeyHash = idempotencyKeyHashOf(request);
  const [identity, idempotencyRecord] = await Promise.all([
    typeof identityId === 'string' && isId(identityId) ? identities.get(identityId) : null,
    idempotencyKeyHash === null ? null : readIdempotencyRecord(table, callerId, idempotencyKeyHash),
  ]);
  return { identity, idempotencyKeyHash, idempotencyRecord };
}

function idempotencyKeyHashOf(request: Pick<ApiRequest, 'headers'>): string | null {
  const key = readIdempotencyKey(request.headers.get('idempotency-key'));
  return key === null ? null : hashIdempotencyKey(key);
}

/** What a request asks for and by whom, with what was read about it. */
export function commandOf(
  request: Pick<ApiRequest, 'requestId' | 'rawBody' | 'query' | 'headers'>,
  { callerId, keyBudget, license, body }: GenerationOrder,
  reads: GenerationReads,
): GenerationCommand {
  return {
    ...reads,
    requestId: request.requestId,
    keyId: callerId,
    keyBudget,
    license,
    body,
    bodyHash: bodyFingerprint(request.rawBody),
    query: request.query,
    idempotencyKeys: request.headers.get('idempotency-key'),
    respondAsync: prefersAsync(request.headers.get('prefer')),
  };
}

/**
 * Generates and answers: with one JSON body, or with server-sent events for a client that asks for them. A client that
 * prefers not to wait is answered once its request is accepted. POST /generate and the playground both answer by this.
 */
export async function answerGeneration(
  request: ApiRequest,
  order: GenerationOrder,
  reads: GenerationReads,
  shared: SharedDeps,
): Promise<Answer> {
  const { license } = order;
  const deps = { ...shared, meter: request.meter };
  const command = commandOf(request, order, reads);
  if (request.query.get('dryRun')?.[0] === 'true') {
    request.logFields.dryRun = 'true';
    const { answer, wouldReplay } = await dryRun(command, deps);
    return ok(answer, wouldReplay ? { 'idempotent-replayed': 'true' } : {});
  }
  const acceptance = await acceptGeneration(command, deps);
  const asEvents = !command.respondAsync && wantsEvents(request);
  const logFault = (error: unknown) => deps.logFault(request.requestId, 'cause', error);
  if (acceptance.outcome === 'replayed') {
    const { answer } = acceptance;
    const headers = { 'idempotent-replayed': 'true', 'x-request-id': answer.requestId };
    if (!asEvents) return ok(answer, headers);
    return { ...eventAnswer(request, async () => answer, logFault), headers };
  }
  request.meter.add('acceptTime', deps.clock.now() - request.receivedAtMs);
  if (command.respondAsync) {
    const [secondsUntilReady] = await Promise.all([
      deps.model.secondsUntilReady(),
      enqueue(acceptance.generation, deps),
    ]);
    return acceptedAnswer(request, acceptance.generation, secondsUntilReady);
  }
  if (!asEvents) return ok(await finishGeneration(acceptance, license, {}, deps));
  const follow = (emit: Emit) => {
    const { requestId, credits } = acceptance.generation;
    emit('accepted', { requestId, creditsReserved: credits });
    return finishGeneration(acceptance, license, observerOf(emit), deps);
  };
  return eventAnswer(request, follow, logFault);
}

function observerOf(emit: Emit): Observer {
  return {
    queued: (position, etaSeconds) => emit('queued', { position, etaSeconds }),
    started: () => emit('started', {}),
    progress: (step, steps) => emit('progress', { step, steps }),
  };
}
