import type { AcceptedGeneration, GenerationAnswer } from '../generations/answer-contract.ts';
import {
  acceptGeneration,
  endedAnswer,
  finishGeneration,
  type Accepted,
  type GenerationDeps,
} from '../generations/create.ts';
import type { GenerationCommand } from '../generations/decide.ts';
import { dryRun } from '../generations/dry-run.ts';
import { enqueue, type EnqueueDeps } from '../generations/enqueue.ts';
import { isFinal, type Generation } from '../generations/generation.ts';
import { requestNotFound } from '../generations/find.ts';
import { waitForEnd } from '../generations/wait-for-end.ts';
import { generationPath } from '../routes/table.ts';
import { ok, type Answer } from './answer.ts';
import { eventAnswer, wantsEvents } from './event-stream.ts';
import type { SharedDeps } from './generation-request.ts';
import { asyncPreference, type AsyncPreference } from './prefer.ts';
import type { ApiRequest } from './request.ts';

type AnswerGenerationDeps = GenerationDeps & EnqueueDeps;

/** Generates and answers in the way that the caller asks for: POST /generate and the playground answer in each of these. */
export async function answerGeneration(
  request: ApiRequest,
  command: GenerationCommand,
  shared: SharedDeps,
): Promise<Answer> {
  const deps = { ...shared, meter: request.meter, traceparent: request.traceparent };
  if (request.query.get('dryRun')?.[0] === 'true') return dryRunAnswer(request, command, deps);
  const accepted = await acceptGeneration(command, deps);
  if (accepted.outcome === 'replayed') return replayAnswer(request, command, accepted.answer, deps);
  request.meter.add('acceptTime', deps.clock.now() - request.receivedAtMs);
  const preference = asyncPreference(request);
  if (preference !== null) return asyncAnswer(request, preference, accepted.generation, command, deps);
  if (wantsEvents(request)) return eventsAnswer(request, command, accepted, deps);
  return ok(await finishGeneration(accepted, command.license, {}, deps));
}

async function dryRunAnswer(
  request: ApiRequest,
  command: GenerationCommand,
  deps: AnswerGenerationDeps,
): Promise<Answer> {
  request.logFields.dryRun = 'true';
  const { answer, wouldReplay } = await dryRun(command, deps);
  return ok(answer, wouldReplay ? { 'idempotent-replayed': 'true' } : {});
}

/** The first request's answer, for a repeat with the same idempotency key. It is there already, so it has no Retry-After. */
function replayAnswer(
  request: ApiRequest,
  command: GenerationCommand,
  answer: GenerationAnswer,
  deps: AnswerGenerationDeps,
): Answer {
  const headers = { 'idempotent-replayed': 'true', 'x-request-id': answer.requestId };
  if (command.respondAsync || !wantsEvents(request)) return ok(answer, headers);
  return { ...eventAnswer(request, async () => answer, logFault(request, deps)), headers };
}

/** An estimate: a model that is ready and idle has finished most requests by then. */
const firstPollSeconds = 2;

/** A model that is awake has begun most requests by then. */
const begunWithinMs = 3000;

/**
 * The result of a request that runs without its caller, if it ends in time; else where its record is, and when to look at it. Nobody
 * waits here for a model that sleeps, as each who waits holds an execution of the account.
 */
async function asyncAnswer(
  request: ApiRequest,
  { waitSeconds, applied }: AsyncPreference,
  generation: Generation,
  { license }: GenerationCommand,
  deps: AnswerGenerationDeps,
): Promise<Answer> {
  request.responseHeaders['preference-applied'] = applied;
  let [secondsUntilReady] = await Promise.all([deps.model.secondsUntilReady(), enqueue(generation, deps)]);
  if (waitSeconds > 0) {
    const isAsleep = async ({ status }: Generation): Promise<boolean> => {
      if (status !== 'QUEUED' || deps.clock.now() < request.receivedAtMs + begunWithinMs) return false;
      secondsUntilReady = await deps.model.secondsUntilReady({ looks: true });
      if (secondsUntilReady !== null) request.responseHeaders['preference-applied'] = 'respond-async';
      return secondsUntilReady !== null;
    };
    const ended = await waitForEnd(generation, request.receivedAtMs + 1000 * waitSeconds, deps, isAsleep);
    // Its run has counted a fault of ours.
    if (ended === null) throw requestNotFound();
    if (ended.status === 'PROCESSING') secondsUntilReady = null;
    if (isFinal(ended.status)) return ok(await endedAnswer(ended, license, { noFault: true }, deps));
  }
  // Null where the model is not known to be starting.
  const pollSeconds = secondsUntilReady ?? firstPollSeconds;
  const { requestId, credits } = generation;
  const body: AcceptedGeneration = { requestId, status: 'QUEUED', creditsReserved: credits };
  return {
    status: 202,
    headers: {
      location: `${request.basePath}${generationPath.replace('{requestId}', requestId)}`,
      'retry-after': String(pollSeconds),
    },
    body,
  };
}

function eventsAnswer(
  request: ApiRequest,
  { license }: GenerationCommand,
  accepted: Accepted,
  deps: AnswerGenerationDeps,
): Answer {
  return eventAnswer(
    request,
    (emit) => {
      const { requestId, credits } = accepted.generation;
      emit('accepted', { requestId, creditsReserved: credits });
      const observer = {
        queued: (position: number, etaSeconds: number) => emit('queued', { position, etaSeconds }),
        started: () => emit('started', {}),
        progress: (step: number, steps: number) => emit('progress', { step, steps }),
      };
      return finishGeneration(accepted, license, observer, deps);
    },
    logFault(request, deps),
  );
}

const logFault =
  ({ requestId }: ApiRequest, deps: AnswerGenerationDeps) =>
  (error: unknown) =>
    deps.logFault(requestId, 'cause', error);
