import type { GenerationAnswer } from '../contracts/generation.ts';
import { billingPeriod, type BillingPeriod } from '../domain/billing-period.ts';
import { newGeneration, type Generation } from '../domain/generation.ts';
import type { Identity, IdentityModel } from '../domain/identity.ts';
import type { License } from '../domain/license.ts';
import { ServiceError } from '../errors.ts';
import type { Meter } from '../metrics.ts';
import type { GenerationStore } from '../store/generation-store.ts';
import type { Once } from '../store/once-store.ts';
import { generationAnswer, type AnswerDeps } from './answers.ts';
import { planGeneration } from './plan-generation.ts';
import { prepareReferences, type ReferenceDeps } from './prepare-references.ts';
import { runErrorCode, runModel, type ModelRunDeps } from './run-model.ts';

export interface GenerationDeps extends ModelRunDeps, AnswerDeps, ReferenceDeps {
  generations: GenerationStore;
  deadlineSeconds: number;
  retentionDays: number;
  /** Of the request that runs. */
  meter: Meter;
  /** Where causes go that no caller may see. */
  logFault(requestId: string, what: string, error: unknown): void;
}

/** A request to generate, authenticated, with what was read about it. */
export interface GenerationOrder {
  requestId: string;
  /** A key's id, or `acct_…` for an account in the playground. */
  keyId: string;
  license: License;
  body: Record<string, unknown>;
  bodyHash: string;
  identity: Identity | null;
  /** The idempotency key's stored form, and what it stands for already. */
  onceId: string | null;
  once: Once | null;
  problems: string[];
}

export type Acceptance =
  | { outcome: 'accepted'; generation: Generation; identity: Identity & { model: IdentityModel } }
  | { outcome: 'replayed'; answer: GenerationAnswer };

export interface Observer {
  started?(): void;
  progress?(step: number, steps: number): void;
}

/**
 * Decides a request and holds its credits. Nothing is held when this throws.
 * @throws every refusal of POST /generate that comes before the model is called.
 */
export async function acceptGeneration(order: GenerationOrder, deps: GenerationDeps): Promise<Acceptance> {
  if (order.once !== null && order.once.expiresAtMs > deps.clock.now()) {
    const answer = await replay(order.once, order, deps);
    if (answer !== null) return { outcome: 'replayed', answer };
  }
  const { requestId, license } = order;
  const { identity, body } = await planGeneration(order, (items) =>
    prepareReferences({ requestId, licenseId: license.licenseId }, items, deps),
  );
  const { model } = identity;
  const refusal = model && (await deps.model.refusal());
  // References and a probe take their time, and a request is accepted only now.
  const nowMs = deps.clock.now();
  const period = billingPeriod(license.periodAnchorMs, nowMs);
  const generation = newGeneration({
    requestId,
    licenseId: license.licenseId,
    keyId: order.keyId,
    identity,
    body,
    periodStartMs: period.startMs,
    nowMs,
    deadlineSeconds: deps.deadlineSeconds,
    retentionDays: deps.retentionDays,
    onceId: order.onceId,
  });
  if (model === null || refusal !== null) {
    throw await afterCredits(refusal ?? noModel(identity), generation, license, period, deps);
  }
  const claim = order.onceId === null ? null : { bodyHash: order.bodyHash };
  const reservation = await deps.generations.reserve(generation, license.creditsLimit, claim);
  if (reservation.outcome === 'over_limit') throw overLimit(license, generation, period, nowMs);
  if (reservation.outcome === 'repeated') {
    const answer = await replay(reservation.once, order, deps);
    if (answer === null) throw inProgress(reservation.once);
    return { outcome: 'replayed', answer };
  }
  deps.meter.add('creditsReserved', generation.credits);
  return { outcome: 'accepted', generation, identity: { ...identity, model } };
}

/**
 * Runs an accepted request to its end: settled or released before this returns.
 * @throws TIMEOUT, GENERATION_FAILED or SERVICE_UNAVAILABLE, after its credits were given back; GENERATION_FAILED also
 *   where its end, or what is told of it, can't be had from the store.
 */
export async function finishGeneration(
  accepted: Extract<Acceptance, { outcome: 'accepted' }>,
  license: License,
  observer: Observer,
  deps: GenerationDeps,
): Promise<GenerationAnswer> {
  const { ended, failure } = await runToEnd(accepted.generation, accepted.identity, observer, deps);
  if (ended.status === 'COMPLETED') {
    return generationAnswer(ended, license, deps).catch((cause: unknown) => {
      // Not SERVICE_UNAVAILABLE: whoever repeats the request for that would pay for it again.
      const sentence =
        'The image is finished and was charged, but its answer could not be put together. Re-fetch the request.';
      throw new ServiceError('GENERATION_FAILED', sentence, { cause });
    });
  }
  const code = ended.errorCode ?? 'GENERATION_FAILED';
  const retryAfterSeconds =
    failure instanceof ServiceError && failure.code === code ? failure.retryAfterSeconds : undefined;
  throw new ServiceError(code, `${ended.errorMessage} Nothing was charged.`, { retryAfterSeconds });
}

async function runToEnd(
  accepted: Generation,
  identity: Identity & { model: IdentityModel },
  observer: Observer,
  deps: GenerationDeps,
): Promise<{ ended: Generation; failure?: unknown }> {
  const { generations, clock, meter } = deps;
  let generation = accepted;
  const events = {
    async started() {
      const startedAtMs = clock.now();
      const started = await generations.start(generation, startedAtMs);
      if (!started) throw new Error('the generation was ended while its model began');
      generation = { ...generation, startedAtMs };
      meter.add('queueWait', startedAtMs - generation.createdAtMs);
      observer.started?.();
    },
    progress: (step: number, steps: number) => observer.progress?.(step, steps),
  };
  try {
    const { outputs, referenceImagesUsed, modelVersion } = await runModel(generation, identity, events, deps);
    const completedAtMs = clock.now();
    const ended = await generations.settle(generation, { completedAtMs, referenceImagesUsed, modelVersion });
    if (ended.status === 'COMPLETED') measureDelivery(ended, outputs, deps);
    return { ended };
  } catch (error) {
    deps.logFault(generation.requestId, 'generation failed', error);
    const errorCode = runErrorCode(error);
    const errorMessage =
      error instanceof ServiceError
        ? error.message
        : 'The image could not be finished because of a fault of ours.';
    const status = errorCode === 'TIMEOUT' ? 'TIMEOUT' : 'FAILED';
    try {
      // Should the charge have been stored after all, this answers the completed record and gives nothing back.
      const ended = await generations.release(generation, { status, errorCode, errorMessage }, clock.now());
      meter.add(ended.status === 'COMPLETED' ? 'creditsSettled' : 'creditsReleased', ended.credits);
      return { ended, failure: error };
    } catch (cause) {
      throw new ServiceError(
        'GENERATION_FAILED',
        'The outcome could not be stored. Re-fetch the request in a few minutes: unless it completed, nothing is charged.',
        { cause },
      );
    }
  }
}

function measureDelivery(
  ended: Generation,
  outputs: { bytes: number }[],
  { meter, clock }: GenerationDeps,
): void {
  meter.add('paintTime', ended.completedAtMs! - ended.startedAtMs!);
  meter.add('settleTime', clock.now() - ended.completedAtMs!);
  meter.add('creditsSettled', ended.credits);
  meter.add('imagesDelivered', outputs.length);
  meter.add(
    'imageBytes',
    outputs.reduce((sum, { bytes }) => sum + bytes, 0),
  );
}

/** @returns the first request's result; null when it ended without one, so that this one may run. */
async function replay(
  once: Once,
  order: GenerationOrder,
  deps: GenerationDeps,
): Promise<GenerationAnswer | null> {
  if (once.bodyHash !== order.bodyHash) {
    throw new ServiceError(
      'IDEMPOTENCY_MISMATCH',
      'This Idempotency-Key was used with another body. Send the same body again, or use a new key.',
    );
  }
  const first = await deps.generations.get(order.license.licenseId, once.requestId);
  if (first?.status === 'COMPLETED') return generationAnswer(first, order.license, deps);
  if (first?.status === 'QUEUED' || first?.status === 'PROCESSING') throw inProgress(once);
  return null;
}

function inProgress(once: Once): ServiceError {
  return new ServiceError(
    'IDEMPOTENCY_IN_PROGRESS',
    'The first request with this Idempotency-Key is still running. Repeat this one in a moment for its result.',
    { requestId: once.requestId },
  );
}

function overLimit(
  license: License,
  generation: Generation,
  period: BillingPeriod,
  nowMs: number,
): ServiceError {
  const retryAfterSeconds = Math.ceil((period.endMs - nowMs) / 1000);
  return new ServiceError(
    'CREDIT_LIMIT_EXCEEDED',
    `This request costs ${generation.credits} ${generation.credits === 1 ? 'credit' : 'credits'}, ` +
      `more than is left of this month's ${license.creditsLimit}. ` +
      `The period resets at ${new Date(period.endMs).toISOString()}.`,
    { retryAfterSeconds },
  );
}

/** That nothing can be painted is said only to those who could have paid for the picture. */
async function afterCredits(
  obstacle: ServiceError,
  generation: Generation,
  license: License,
  period: BillingPeriod,
  deps: GenerationDeps,
): Promise<ServiceError> {
  const { committed } = await deps.periods.get(license.licenseId, period.startMs);
  const isOverLimit = committed + generation.credits > license.creditsLimit;
  return isOverLimit ? overLimit(license, generation, period, generation.createdAtMs) : obstacle;
}

function noModel(identity: Identity): ServiceError {
  return new ServiceError(
    'IDENTITY_UNAVAILABLE',
    `${identity.name} has no active model at the moment. Try again later, or use another identity.`,
  );
}
