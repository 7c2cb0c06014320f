import type { ModelServer } from '../adapters/model-server.ts';
import { billingPeriod, type BillingPeriod } from '../domain/billing-period.ts';
import { newGeneration, type Generation } from '../domain/generation.ts';
import type { Identity, IdentityModel } from '../domain/identity.ts';
import type { License } from '../domain/license.ts';
import { ServiceError } from '../errors.ts';
import type { GenerationStore } from '../store/generation-store.ts';
import type { Once } from '../store/once-store.ts';
import type { Period, PeriodStore } from '../store/period-store.ts';
import { planGeneration } from './plan-generation.ts';
import { prepareReferences, type ReferenceDeps } from './prepare-references.ts';

export interface DecisionDeps extends ReferenceDeps {
  generations: GenerationStore;
  periods: PeriodStore;
  model: ModelServer;
  deadlineSeconds: number;
  retentionDays: number;
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

/** What a request is, once every check that needs no books was passed. */
export type Decision =
  /** Its idempotency key stands for a request that completed. */
  | { outcome: 'repeats'; first: Generation }
  | ({ outcome: 'new'; generation: Generation; period: BillingPeriod } & (
      | { identity: Identity & { model: IdentityModel }; obstacle: null }
      /** Why nothing can be painted. It is said only to those who could have paid for the picture. */
      | { identity: Identity; obstacle: ServiceError }
    ));

export type NewRequest = Extract<Decision, { outcome: 'new' }>;

/**
 * Decides a request, as far as that can be done without holding its credits. What it costs is in its generation, of
 * which nothing is stored yet.
 * @param keepReferences whether its reference images are stored for the model, or only looked at.
 * @throws every refusal that stands before the credits in the order of checks.
 */
export async function decideGeneration(
  order: GenerationOrder,
  deps: DecisionDeps,
  { keepReferences }: { keepReferences: boolean },
): Promise<Decision> {
  if (order.once !== null && order.once.expiresAtMs > deps.clock.now()) {
    const first = await finishedFirst(order.once, order, deps);
    if (first !== null) return { outcome: 'repeats', first };
  }
  const { requestId, license } = order;
  const { identity, body } = await planGeneration(order, (items) =>
    prepareReferences({ requestId, licenseId: license.licenseId }, items, deps, { keep: keepReferences }),
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
  if (model === null) return { outcome: 'new', generation, period, identity, obstacle: noModel(identity) };
  if (refusal !== null) return { outcome: 'new', generation, period, identity, obstacle: refusal };
  return { outcome: 'new', generation, period, identity: { ...identity, model }, obstacle: null };
}

/**
 * Whether the books have room for a request at this moment, without holding it.
 * @returns the period's books.
 * @throws CREDIT_LIMIT_EXCEEDED
 */
export async function checkCredits(
  request: NewRequest,
  license: License,
  { periods }: Pick<DecisionDeps, 'periods'>,
): Promise<Period> {
  const books = await periods.get(license.licenseId, request.period.startMs);
  if (books.committed + request.generation.credits > license.creditsLimit) throw overLimit(request, license);
  return books;
}

/**
 * @returns the request that an idempotency key stands for; null when it ended without a result, so that another may run.
 * @throws IDEMPOTENCY_MISMATCH, IDEMPOTENCY_IN_PROGRESS
 */
export async function finishedFirst(
  once: Once,
  order: GenerationOrder,
  deps: Pick<DecisionDeps, 'generations'>,
): Promise<Generation | null> {
  if (once.bodyHash !== order.bodyHash) {
    throw new ServiceError(
      'IDEMPOTENCY_MISMATCH',
      'This Idempotency-Key was used with another body. Send the same body again, or use a new key.',
    );
  }
  const first = await deps.generations.get(order.license.licenseId, once.requestId);
  if (first?.status === 'QUEUED' || first?.status === 'PROCESSING') throw inProgress(once);
  return first?.status === 'COMPLETED' ? first : null;
}

export function inProgress(once: Once): ServiceError {
  return new ServiceError(
    'IDEMPOTENCY_IN_PROGRESS',
    'The first request with this Idempotency-Key is still running. Repeat this one in a moment for its result.',
    { requestId: once.requestId },
  );
}

export function overLimit({ generation, period }: NewRequest, license: License): ServiceError {
  const { credits, createdAtMs } = generation;
  const retryAfterSeconds = Math.ceil((period.endMs - createdAtMs) / 1000);
  return new ServiceError(
    'CREDIT_LIMIT_EXCEEDED',
    `This request costs ${credits} ${credits === 1 ? 'credit' : 'credits'}, ` +
      `more than is left of this month's ${license.creditsLimit}. ` +
      `The period resets at ${new Date(period.endMs).toISOString()}.`,
    { retryAfterSeconds },
  );
}

function noModel(identity: Identity): ServiceError {
  return new ServiceError(
    'IDENTITY_UNAVAILABLE',
    `${identity.name} has no active model at the moment. Try again later, or use another identity.`,
  );
}
