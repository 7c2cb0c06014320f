import { modelServer } from '../adapters/model-server.ts';
import { objectStore } from '../adapters/object-store.ts';
import { referenceFetcherClient } from '../adapters/reference-fetcher-client.ts';
import { bodyFingerprint, readIdempotencyKey } from '../domain/idempotency.ts';
import { isId } from '../domain/ids.ts';
import { generationStore } from '../store/generation-store.ts';
import { hashIdempotencyKey } from '../store/idempotency-store.ts';
import { readForCommand, type CommandReads } from '../store/command-reads.ts';
import { periodStore } from '../store/period-store.ts';
import type { Table } from '../store/table.ts';
import {
  acceptGeneration,
  finishGeneration,
  type GenerationDeps,
  type GenerationCommand,
  type Observer,
} from '../workflow/create-generation.ts';
import { dryRun } from '../workflow/dry-run.ts';
import type { License } from '../domain/license.ts';
import { ok, type Answer } from './answer.ts';
import { eventAnswer, wantsEvents } from './event-stream.ts';
import { loggableError } from '../runtime/log.ts';
import { readJsonBody, type ApiRequest } from './request.ts';
import type { Runtime } from '../runtime/runtime.ts';

export interface GenerationRequestDeps {
  table: Table;
  workflow: SharedDeps;
}

/** What all requests share. The meter is each request's own. */
type SharedDeps = Omit<GenerationDeps, 'meter'>;

export function generationDeps({ env, table, clock, log, stopping }: Runtime): GenerationRequestDeps {
  return {
    table: table(),
    workflow: {
      generations: generationStore(table()),
      periods: periodStore(table()),
      objects: objectStore(env.bucketName),
      model: modelServer(env.modelEndpointName, {
        clock,
        onBreaker: (breaker) => log.info('model breaker', { ...breaker }),
      }),
      references: referenceFetcherClient(env.referenceFetcherUrl),
      clock,
      stopping,
      deadlineSeconds: env.generationDeadlineSeconds,
      retentionDays: env.retentionDays,
      logFault: (requestId, what, error) => log.error(what, { requestId, causes: loggableError(error) }),
    },
  };
}

export interface GenerationReads extends CommandReads {
  idempotencyKeyHash: string | null;
}

/**
 * Reads what a request names, before its caller is known to have access. What is wrong with the request is refused
 * later: here it only names nothing.
 */
export async function prefetchForGeneration(
  request: ApiRequest,
  callerId: string,
  table: Table,
): Promise<GenerationReads> {
  const idempotencyKeyHash = idempotencyKeyHashOf(request);
  const wanted = { identityId: peekIdentityId(request), callerId, idempotencyKeyHash };
  return { ...(await readForCommand(table, wanted)), idempotencyKeyHash };
}

function peekIdentityId(request: ApiRequest): string | null {
  try {
    const { identityId } = readJsonBody(request);
    return typeof identityId === 'string' && isId(identityId) ? identityId : null;
  } catch {
    return null;
  }
}

function idempotencyKeyHashOf(request: ApiRequest): string | null {
  const key = readIdempotencyKey(request.headers.get('idempotency-key'));
  return key === null ? null : hashIdempotencyKey(key);
}

/**
 * Generates and answers: with one JSON body, or with server-sent events for a client that asks for them. POST /generate
 * and the playground both answer by this.
 */
export async function answerGeneration(
  request: ApiRequest,
  { callerId, license, body }: { callerId: string; license: License; body: Record<string, unknown> },
  reads: GenerationReads,
  shared: SharedDeps,
): Promise<Answer> {
  const deps: GenerationDeps = { ...shared, meter: request.meter };
  const command: GenerationCommand = {
    ...reads,
    requestId: request.requestId,
    keyId: callerId,
    license,
    body,
    bodyHash: bodyFingerprint(request.rawBody),
    query: request.query,
    idempotencyKeys: request.headers.get('idempotency-key'),
  };
  if (request.query.get('dryRun')?.[0] === 'true') {
    request.logFields.dryRun = 'true';
    const { answer, wouldReplay } = await dryRun(command, deps);
    return ok(answer, wouldReplay ? { 'idempotent-replayed': 'true' } : {});
  }
  const acceptance = await acceptGeneration(command, deps);
  const logFault = (error: unknown) => deps.logFault(request.requestId, 'cause', error);
  if (acceptance.outcome === 'replayed') {
    const { answer } = acceptance;
    const headers = { 'idempotent-replayed': 'true', 'x-request-id': answer.requestId };
    if (!wantsEvents(request)) return ok(answer, headers);
    return { ...eventAnswer(request, async () => answer, logFault), headers };
  }
  request.meter.add('acceptTime', deps.clock.now() - request.receivedAtMs);
  const { requestId, credits } = acceptance.generation;
  if (!wantsEvents(request)) return ok(await finishGeneration(acceptance, license, {}, deps));
  return eventAnswer(
    request,
    (emit) => {
      emit('accepted', { requestId, creditsReserved: credits });
      const observer: Observer = {
        started: () => emit('started', {}),
        progress: (step, steps) => emit('progress', { step, steps }),
      };
      return finishGeneration(acceptance, license, observer, deps);
    },
    logFault,
  );
}
