import { modelServer } from '../adapters/model-server.ts';
import { objectStore } from '../adapters/object-store.ts';
import { referenceReader } from '../adapters/reference-reader.ts';
import { bodyFingerprint, idempotencyKeyRule, parseIdempotencyKey } from '../domain/idempotency.ts';
import { isId } from '../domain/ids.ts';
import { generationStore } from '../store/generation-store.ts';
import { onceIdOf } from '../store/once-store.ts';
import { readForOrder, type OrderReads } from '../store/order-reads.ts';
import { periodStore } from '../store/period-store.ts';
import type { Table } from '../store/table.ts';
import {
  acceptGeneration,
  finishGeneration,
  type GenerationDeps,
  type GenerationOrder,
  type Observer,
} from '../workflow/create-generation.ts';
import { dryRun } from '../workflow/dry-run.ts';
import type { License } from '../domain/license.ts';
import { ok, type Answer } from './answer.ts';
import { eventAnswer, wantsEvents } from './event-stream.ts';
import { loggableError } from './log.ts';
import { queryProblems, readJsonBody, type ApiRequest } from './request.ts';
import type { Runtime } from './runtime.ts';

export interface GenerationRequestDeps {
  table: Table;
  workflow: SharedDeps;
}

/** What one request after another uses; each brings a meter of its own. */
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
      references: referenceReader(env.referenceReaderUrl),
      clock,
      stopping,
      deadlineSeconds: env.generationDeadlineSeconds,
      retentionDays: env.retentionDays,
      logFault: (requestId, what, error) => log.error(what, { requestId, causes: loggableError(error) }),
    },
  };
}

/** Everything about the request that can be read before its caller is known to have access. */
export interface GenerationReads extends OrderReads {
  /** Thrown only once the caller has access, in its place in the order of checks. */
  body: () => Record<string, unknown>;
  onceId: string | null;
  isDryRun: boolean;
  problems: string[];
}

export async function readGenerationRequest(
  request: ApiRequest,
  callerId: string,
  table: Table,
): Promise<GenerationReads> {
  const body = attempt(() => readJsonBody(request));
  const identityId = body.ok ? body.value.identityId : null;
  const { key, problems } = readIdempotencyKey(request);
  const dry = readDryRun(request);
  const onceId = key === null ? null : onceIdOf(key);
  const reads = await readForOrder(table, {
    identityId: typeof identityId === 'string' && isId(identityId) ? identityId : null,
    callerId,
    onceId,
  });
  return {
    ...reads,
    body: () => {
      if (body.ok) return body.value;
      throw body.error;
    },
    onceId,
    isDryRun: dry.isDryRun,
    problems: [...dry.problems, ...problems],
  };
}

/** Anything but the two words is refused: whoever asks for a dry run must never pay for a real one. */
function readDryRun(request: ApiRequest): { isDryRun: boolean; problems: string[] } {
  const problems = queryProblems(request, ['dryRun']);
  const [value = 'false'] = request.query.get('dryRun') ?? [];
  if (value !== 'true' && value !== 'false') problems.push('dryRun must be true or false');
  return { isDryRun: value === 'true', problems };
}

function readIdempotencyKey(request: ApiRequest): { key: string | null; problems: string[] } {
  const sent = request.headers.get('idempotency-key');
  if (sent === undefined) return { key: null, problems: [] };
  const key = sent.length === 1 ? parseIdempotencyKey(sent[0]!) : null;
  return { key, problems: key === null ? [idempotencyKeyRule] : [] };
}

/**
 * Generates and answers: one JSON body, or server-sent events for a client that asks for them. What generate and
 * the playground share, to the letter.
 */
export async function answerGeneration(
  request: ApiRequest,
  caller: { callerId: string; license: License },
  reads: GenerationReads,
  shared: SharedDeps,
): Promise<Answer> {
  const { license } = caller;
  const deps: GenerationDeps = { ...shared, meter: request.meter };
  const order: GenerationOrder = {
    ...reads,
    requestId: request.requestId,
    keyId: caller.callerId,
    license,
    body: reads.body(),
    bodyHash: bodyFingerprint(request.rawBody),
  };
  if (reads.isDryRun) {
    request.facts.dryRun = 'true';
    const { answer, wouldReplay } = await dryRun(order, deps);
    return ok(answer, wouldReplay ? { 'idempotent-replayed': 'true' } : {});
  }
  const acceptance = await acceptGeneration(order, deps);
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

type Attempt<T> = { ok: true; value: T } | { ok: false; error: unknown };

function attempt<T>(make: () => T): Attempt<T> {
  try {
    return { ok: true, value: make() };
  } catch (error) {
    return { ok: false, error };
  }
}
