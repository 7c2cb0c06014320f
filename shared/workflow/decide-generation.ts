import type { ModelServer } from '../adapters/model-server.ts';
import {
  createGenerationBody,
  type CreateGenerationBody,
  type ReferenceItem,
} from '../contracts/generation.ts';
import { describeIssues, queryProblems } from '../contracts/fields.ts';
import { billingPeriod, type BillingPeriod } from '../domain/billing-period.ts';
import { isoTime } from '../domain/clock.ts';
import { checkReferences, checkTier, newGeneration, type Generation } from '../domain/generation.ts';
import { idempotencyKeyRule, readIdempotencyKey } from '../domain/idempotency.ts';
import type { Identity, IdentityModel } from '../domain/identity.ts';
import { mayUse, type License } from '../domain/license.ts';
import { ServiceError } from '../errors.ts';
import type { GenerationStore } from '../store/generation-store.ts';
import type { IdempotencyRecord } from '../store/idempotency-store.ts';
import type { Period, PeriodStore } from '../store/period-store.ts';
import { prepareReferences, type ReferenceDeps } from './prepare-references.ts';

export interface DecisionDeps extends ReferenceDeps {
  generations: GenerationStore;
  periods: PeriodStore;
  model: ModelServer;
  deadlineSeconds: number;
  retentionDays: number;
}

/** A request to generate, authenticated, with what was read about it. Its parameters are still as they were sent. */
export interface GenerationCommand {
  requestId: string;
  /** A key's id, or `acct_…` for an account in the playground. */
  keyId: string;
  license: License;
  body: Record<string, unknown>;
  bodyHash: string;
  query: ReadonlyMap<string, readonly string[]>;
  /** Every value of the header; undefined where it was not sent. */
  idempotencyKeys: readonly string[] | undefined;
  /** The identity that the body names; null where there is none with that id. */
  identity: Identity | null;
  /** The idempotency key's stored form, and what it stands for already. */
  idempotencyKeyHash: string | null;
  idempotencyRecord: IdempotencyRecord | null;
}

/** What a request is, after every check but that of its credits. */
export type Decision =
  /** Its idempotency key stands for a request that completed. */
  | { outcome: 'repeats'; first: Generation }
  | ({ outcome: 'new'; generation: Generation; period: BillingPeriod } & (
      | { identity: Identity & { model: IdentityModel }; unavailableError: null }
      /** Why no image can be made. A caller without enough credits is told of the credits instead. */
      | { identity: Identity; unavailableError: ServiceError }
    ));

export type NewRequest = Extract<Decision, { outcome: 'new' }>;

/**
 * Makes every check of a request that comes before its credits. Nothing is stored: the generation is what would be.
 * @param copyReferences whether its reference images are stored for the model, or only looked at.
 * @throws the first refusal in the order of checks.
 */
export async function decideGeneration(
  command: GenerationCommand,
  deps: DecisionDeps,
  { copyReferences }: { copyReferences: boolean },
): Promise<Decision> {
  if (command.idempotencyRecord !== null && command.idempotencyRecord.expiresAtMs > deps.clock.now()) {
    const first = await finishedFirst(command.idempotencyRecord, command, deps);
    if (first !== null) return { outcome: 'repeats', first };
  }
  const { requestId, license } = command;
  const { identity, body } = await planGeneration(command, (items) =>
    prepareReferences({ requestId, licenseId: license.licenseId }, items, deps, { copyReferences }),
  );
  const { model } = identity;
  const refusal = model && (await deps.model.refusal());
  // References and a probe take time. The request counts from this moment.
  const nowMs = deps.clock.now();
  const period = billingPeriod(license.periodAnchorMs, nowMs);
  const generation = newGeneration({
    requestId,
    licenseId: license.licenseId,
    keyId: command.keyId,
    identity,
    body,
    periodStartMs: period.startMs,
    nowMs,
    deadlineSeconds: deps.deadlineSeconds,
    retentionDays: deps.retentionDays,
    idempotencyKeyHash: command.idempotencyKeyHash,
  });
  const decided = { outcome: 'new', generation, period } as const;
  if (model === null || refusal !== null) {
    return { ...decided, identity, unavailableError: refusal ?? noModel(identity) };
  }
  return { ...decided, identity: { ...identity, model }, unavailableError: null };
}

/** What the checks of a request read. */
export type PlanInput = Pick<
  GenerationCommand,
  'license' | 'body' | 'query' | 'idempotencyKeys' | 'identity'
>;

export interface Plan {
  identity: Identity;
  body: CreateGenerationBody;
}

/**
 * Checks who may use the identity, then the parameters, the references and the tier. The first failure is told.
 * @param prepare looks at the reference images: what is wrong with them is a wrong parameter too.
 * @throws MISSING_IDENTITY, IDENTITY_NOT_FOUND, IDENTITY_MISMATCH, INVALID_PARAMETERS, TIER_LIMIT, SERVICE_UNAVAILABLE
 */
export async function planGeneration(
  input: PlanInput,
  prepare: (items: ReferenceItem[]) => Promise<void>,
): Promise<Plan> {
  const identity = allowedIdentity(input);
  const body = parseParameters(input);
  checkReferences(body, identity);
  await prepare(body.referenceImages);
  checkTier(body, input.license.tier);
  return { identity, body };
}

function allowedIdentity({ body: { identityId }, identity, license }: PlanInput): Identity {
  if (identityId === undefined || identityId === null || identityId === '') {
    throw new ServiceError('MISSING_IDENTITY', 'identityId is missing: send the ID of the identity to use.');
  }
  if (identity === null) {
    throw new ServiceError(
      'IDENTITY_NOT_FOUND',
      'No identity has this identityId. GET /identities lists those that you may use.',
    );
  }
  if (!mayUse(license, identity)) {
    throw new ServiceError(
      'IDENTITY_MISMATCH',
      `This license does not cover ${identity.name}. GET /identities lists the identities that you may use.`,
    );
  }
  return identity;
}

/** The query, the header and the body are checked together: one sentence names all that is wrong with them. */
function parseParameters({ body, query, idempotencyKeys }: PlanInput): CreateGenerationBody {
  const problems = queryProblems(query, ['dryRun']);
  const [dryRun = 'false'] = query.get('dryRun') ?? [];
  // Whoever asks for a dry run in other words must not pay for a real one.
  if (dryRun !== 'true' && dryRun !== 'false') problems.push('dryRun must be true or false');
  if (idempotencyKeys && readIdempotencyKey(idempotencyKeys) === null) {
    problems.push(idempotencyKeyRule);
  }
  const sentences = problems.map((problem) => `${problem}.`);
  const parsed = createGenerationBody.safeParse(body);
  if (!parsed.success) sentences.push(describeIssues(parsed.error.issues));
  if (!parsed.success || sentences.length > 0) {
    throw new ServiceError('INVALID_PARAMETERS', sentences.join(' '));
  }
  return parsed.data;
}

/**
 * Checks whether a request fits into its period now, without reserving its credits.
 * @returns the period's totals.
 * @throws CREDIT_LIMIT_EXCEEDED
 */
export async function checkCredits(
  request: NewRequest,
  license: License,
  { periods }: Pick<DecisionDeps, 'periods'>,
): Promise<Period> {
  const totals = await periods.get(license.licenseId, request.period.startMs);
  if (totals.committed + request.generation.credits > license.creditsLimit) throw overLimit(request, license);
  return totals;
}

/**
 * @returns the request that an idempotency key stands for; null when it ended without a result, so that another may run.
 * @throws IDEMPOTENCY_MISMATCH, IDEMPOTENCY_IN_PROGRESS
 */
export async function finishedFirst(
  idempotencyRecord: IdempotencyRecord,
  command: GenerationCommand,
  deps: Pick<DecisionDeps, 'generations'>,
): Promise<Generation | null> {
  if (idempotencyRecord.bodyHash !== command.bodyHash) {
    throw new ServiceError(
      'IDEMPOTENCY_MISMATCH',
      'This Idempotency-Key was used with another body. Send the same body again, or use a new key.',
    );
  }
  const first = await deps.generations.get(command.license.licenseId, idempotencyRecord.requestId);
  if (first?.status === 'QUEUED' || first?.status === 'PROCESSING') throw inProgress(idempotencyRecord);
  return first?.status === 'COMPLETED' ? first : null;
}

export function inProgress(idempotencyRecord: IdempotencyRecord): ServiceError {
  return new ServiceError(
    'IDEMPOTENCY_IN_PROGRESS',
    'The first request with this Idempotency-Key is still running. Repeat this one in a moment for its result.',
    { requestId: idempotencyRecord.requestId },
  );
}

export function overLimit({ generation, period }: NewRequest, license: License): ServiceError {
  const { credits, createdAtMs } = generation;
  const retryAfterSeconds = Math.ceil((period.endMs - createdAtMs) / 1000);
  return new ServiceError(
    'CREDIT_LIMIT_EXCEEDED',
    `This request costs ${credits} ${credits === 1 ? 'credit' : 'credits'}, ` +
      `more than is left of this month's ${license.creditsLimit}. ` +
      `The period resets at ${isoTime(period.endMs)}.`,
    { retryAfterSeconds },
  );
}

function noModel(identity: Identity): ServiceError {
  return new ServiceError(
    'IDENTITY_UNAVAILABLE',
    `${identity.name} has no active model at the moment. Try again later, or use another identity.`,
  );
}
