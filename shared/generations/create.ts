import type { GenerationAnswer } from './answer-contract.ts';
import type { Generation } from './generation.ts';
import type { Identity } from '../identities/identity.ts';
import type { IdentityVersion } from '../identities/version.ts';
import { mayHaveExtra } from '../licenses/extra-credits.ts';
import { maxInFlight, type License } from '../licenses/license.ts';
import { isFault, memberName, ServiceError, type ServiceErrorOptions, type Words } from '../base/errors.ts';
import { completedAnswer, type AnswerDeps } from './answers.ts';
import {
  decideGeneration,
  findReplay,
  anotherTryRuns,
  inProgress,
  type DecisionDeps,
  type GenerationCommand,
} from './decide.ts';
import { overKeyBudget, overLimit, tooManyInFlight, tooManyUnpaid } from './limit-refusals.ts';
import { discardReferences } from '../references/discard-references.ts';
import { runModel } from './run-model.ts';
import { RunLost } from './record-part.ts';
import {
  countCancelled,
  newRun,
  generateAndSettle,
  releaseAfterFailure,
  wasCancelled,
  wasDeleted,
  type Observer,
  type RunDeps,
} from './settle.ts';

export interface GenerationDeps extends DecisionDeps, RunDeps, AnswerDeps {}

/** Its credits are held. */
export interface Accepted {
  outcome: 'accepted';
  generation: Generation;
  identity: Identity & { model: IdentityVersion };
}

/** The first request with its idempotency key has completed. */
export interface Replayed {
  outcome: 'replayed';
  generation: Generation;
  answer: GenerationAnswer;
}

/**
 * Decides a request and holds its credits. Unless it is accepted, nothing is held and no copy of its references is left.
 * @throws every refusal of POST /generate that comes before the model is called.
 */
export async function acceptGeneration(
  command: GenerationCommand,
  deps: GenerationDeps,
): Promise<Accepted | Replayed> {
  const { license, keyBudget, keyMaxInFlight } = command;
  const decided = await decideGeneration(command, deps, { dryRun: false });
  if ('first' in decided) return replayed(decided.first, license, deps);
  const { generation, period, identity } = decided;
  let fromExtra: Generation['fromExtra'] = null;
  let isAccepted = false;
  try {
    const most = maxInFlight(license);
    const limits = {
      creditsLimit: period.creditsLimit,
      keyBudget,
      maxInFlight: most,
      keyMaxInFlight,
      mayHaveExtra: mayHaveExtra(license, generation.createdAtMs),
    };
    const isLate = () => deps.clock.now() >= generation.deadlineMs;
    const reserved = await deps.generations.reserve(
      generation,
      limits,
      command.bodyHash,
      isLate,
      command.storedBeside?.(generation),
    );
    if (reserved.outcome === 'overtaken') throw anotherTryRuns();
    if (reserved.outcome === 'over_limit') throw overLimit(decided, license);
    if (reserved.outcome === 'over_key_budget') throw overKeyBudget(decided, keyBudget!);
    if (reserved.outcome === 'too_many_unpaid') throw tooManyUnpaid(reserved.refusal, generation.createdAtMs);
    if (reserved.outcome === 'too_many_in_flight') throw tooManyInFlight('license', most);
    if (reserved.outcome === 'too_many_of_key_in_flight') throw tooManyInFlight('key', keyMaxInFlight!);
    if (reserved.outcome === 'repeated') {
      const first = await findReplay(reserved.idempotencyRecord, command, deps);
      if (first === null) throw inProgress(reserved.idempotencyRecord);
      return await replayed(first, license, deps);
    }
    fromExtra = reserved.fromExtra ?? null;
    isAccepted = true;
  } finally {
    if (!isAccepted) await discardReferences(generation, generation.referenceImages, deps);
  }
  return { outcome: 'accepted', generation: { ...generation, fromExtra }, identity };
}

async function replayed(first: Generation, license: License, deps: AnswerDeps): Promise<Replayed> {
  return { outcome: 'replayed', generation: first, answer: await completedAnswer(first, license, deps) };
}

/**
 * Runs an accepted request to its end: settled or released, and its references deleted, before this returns.
 * @throws one of `generationErrorCodes`, after its credits were given back. GENERATION_FAILED also where the outcome could not
 *   be stored, and where the image is charged and its answer could not be made.
 */
export async function finishGeneration(
  { generation, identity }: Accepted,
  license: License,
  observer: Observer,
  deps: GenerationDeps,
): Promise<GenerationAnswer> {
  deps.meter.add('creditsReserved', generation.credits);
  const { ended, failure } = await runToEnd(generation, identity, observer, deps).finally(() =>
    discardReferences(generation, generation.referenceImages, deps),
  );
  const code = ended.errorCode ?? 'GENERATION_FAILED';
  // Where another process ended it for another reason, the wait of our failure is not its wait.
  const own = failure instanceof ServiceError && failure.code === code ? failure : null;
  const { retryAfterSeconds, categories } = own ?? {};
  return endedAnswer(
    ended,
    license,
    { retryAfterSeconds, categories, noFault: !isFault(code, failure) },
    deps,
  );
}

/**
 * What everybody is answered who waited for a request, once it has ended.
 * @throws the error that it ended with; GENERATION_FAILED where the image is charged and its answer could not be made.
 */
export async function endedAnswer(
  ended: Generation,
  license: License,
  about: Pick<ServiceErrorOptions, 'retryAfterSeconds' | 'categories' | 'noFault'>,
  deps: AnswerDeps,
): Promise<GenerationAnswer> {
  const { requestId } = ended;
  if (ended.status === 'COMPLETED') {
    return completedAnswer(ended, license, deps).catch((cause: unknown) => {
      // Not SERVICE_UNAVAILABLE: callers repeat the request for that, and would pay for it again.
      const sentence = ({ refetch }: Words) =>
        `The image is finished and was charged, but its answer could not be put together. ${refetch}.`;
      throw new ServiceError('GENERATION_FAILED', sentence, { cause, requestId });
    });
  }
  const code = ended.errorCode ?? 'GENERATION_FAILED';
  if (code === 'CANCELLED') throw wasCancelled(ended);
  const sentence = (words: Words) => {
    // The record has our words. Of members it may name only this one, first.
    const told = `${ended.errorMessage}`.replace(/^referenceImages\b/, memberName('referenceImages', words));
    return `${told} Nothing was charged.`;
  };
  throw new ServiceError(code, sentence, { ...about, requestId });
}

async function runToEnd(
  generation: Generation,
  identity: Identity & { model: IdentityVersion },
  observer: Observer,
  deps: GenerationDeps,
): Promise<{ ended: Generation; failure?: unknown }> {
  const run = newRun(generation);
  const options = { generate: runModel, waitMetric: 'queueWait', observer } as const;
  try {
    return { ended: await generateAndSettle(run, identity, options, deps) };
  } catch (failure) {
    try {
      return { ended: await releaseAfterFailure(generation, failure, run.runId, deps), failure };
    } catch (cause) {
      // No other run has it. So it is not there any more: it had ended, mostly because it was cancelled, and was deleted.
      if (!(cause instanceof RunLost)) throw cause;
      countCancelled(generation, deps.meter);
      throw wasDeleted(generation);
    }
  }
}
