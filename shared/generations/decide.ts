import type { Meter } from '../base/metrics.ts';
import type { ModelServer } from '../model/client.ts';
import { tenantOf } from '../model/tenant.ts';
import { checkCommand, type CheckedCommand, type UncheckedCommand } from './check-command.ts';
import { creditPeriod } from '../licenses/credit-period.ts';
import { fitsBudget } from '../licenses/credits.ts';
import { neededExtra } from '../licenses/extra-credits.ts';
import { isFinal, newGeneration, type Generation } from './generation.ts';
import type { Identity } from '../identities/identity.ts';
import type { IdentityVersion } from '../identities/version.ts';
import { maxInFlight } from '../licenses/license.ts';
import { unpaidRefusal } from '../licenses/unpaid-runs.ts';
import { ServiceError } from '../base/errors.ts';
import { overKeyBudget, overLimit, tooManyInFlight, tooManyUnpaid, type InPeriod } from './limit-refusals.ts';
import type { StoredBeside } from './record-part.ts';
import type { GenerationStore } from './store.ts';
import type { IdempotencyRecord } from './idempotency-store.ts';
import { inFlightName, type Period, type PeriodStore } from '../licenses/period-store.ts';
import type { AskedPrompt, PromptCheck } from '../moderation/prompt-check.ts';
import { prepareReferences, type ReferenceDeps } from '../references/prepare-references.ts';

export interface DecisionDeps extends ReferenceDeps {
  generations: GenerationStore;
  periods: PeriodStore;
  model: ModelServer;
  /** Null where prompts are not checked. */
  promptCheck: PromptCheck | null;
  meter: Meter;
  deadlineSeconds: number;
  /** Of requests that are answered before they are run. */
  asyncDeadlineSeconds: number;
  retentionDays: number;
}

/** A request to generate, authenticated, with what was read about it. Its parameters are still as they were sent. */
export interface GenerationCommand extends UncheckedCommand {
  requestId: string;
  /** A key's id, or `acct_…` for an account in the playground. */
  keyId: string;
  /** Credits of a month that the key may use; null for a key without a budget, and for the playground. */
  keyBudget: number | null;
  /** Requests of the key that may be in flight; null for a key without such a limit, and for the playground. */
  keyMaxInFlight: number | null;
  bodyHash: string;
  /** As it is stored. */
  idempotencyKeyHash: string | null;
  /** What the idempotency key stands for already. */
  idempotencyRecord: IdempotencyRecord | null;
  /** What else its reservation stores. */
  storedBeside?: (generation: Generation) => StoredBeside;
  /** It runs without its caller, who may be answered once it is accepted. */
  respondAsync: boolean;
}

/** What a request is, after every check that comes before its reservation. */
export type Decided =
  /** Its idempotency key stands for a request that completed. */
  | { first: Generation }
  | (InPeriod & {
      identity: Identity & { model: IdentityVersion };
      /** The period's totals, where they were looked at. */
      totals: Period | null;
    });

/**
 * Makes every check of a request that comes before its reservation. It stores nothing but copies of the reference images: a
 * caller that reserves nothing deletes them. The reservation decides about credits. They are read here only before another
 * refusal or a fetch of references, because a request without credits is refused for that first.
 * @param dryRun looks at the credits in any case, and stores nothing.
 * @throws the first refusal in the order of checks. No copy is left then.
 */
export async function decideGeneration(
  command: GenerationCommand,
  deps: DecisionDeps,
  { dryRun }: { dryRun: boolean },
): Promise<Decided> {
  if (command.idempotencyRecord !== null && command.idempotencyRecord.expiresAtMs > deps.clock.now()) {
    const first = await findReplay(command.idempotencyRecord, command, deps);
    if (first !== null) return { first };
  }
  const { license } = command;
  const checked = checkCommand(command, deps.clock.now());
  const { model } = checked.identity;
  const references = checked.body.referenceImages;
  const promptCheck = license.moderation?.rule === 'exempt' ? null : deps.promptCheck;
  const refusal =
    model === null
      ? noModel(checked.identity)
      : await deps.model.refusal({ waits: command.respondAsync, calls: !dryRun });
  const readsCredits = dryRun || refusal !== null || references.length > 0 || promptCheck !== null;
  // A request that its credits do not allow is refused for that first: nothing is fetched for it, and nobody is asked about it.
  const totals = readsCredits
    ? await checkCredits(generationOf(command, checked, deps), command, deps)
    : null;
  if (model === null || refusal !== null) throw refusal;
  const unpaid = unpaidRefusal(totals?.unpaidRuns ?? [], deps.clock.now());
  if (unpaid !== null) throw tooManyUnpaid(unpaid, deps.clock.now());
  if (totals !== null) checkInFlight(command, totals);
  await promptCheck?.(askedPrompt(command, checked), deps.meter);
  const of = { requestId: command.requestId, licenseId: license.licenseId };
  await prepareReferences(of, references, deps, { copyReferences: !dryRun });
  // To fetch references and to probe the model takes time. So the request is made again: its deadline and its period count
  // from now.
  const identity = { ...checked.identity, model };
  return { ...generationOf(command, checked, deps), identity, totals };
}

function askedPrompt(
  { requestId, license, body: sent }: GenerationCommand,
  { body, identity: { identityId } }: CheckedCommand,
): AskedPrompt {
  // Only what its caller wrote.
  const negativePrompt = typeof sent.negativePrompt === 'string' ? body.negativePrompt : '';
  return { prompt: body.prompt, negativePrompt, identityId, tenant: tenantOf(license.licenseId), requestId };
}

function generationOf(
  command: GenerationCommand,
  { identity, body }: CheckedCommand,
  deps: DecisionDeps,
): InPeriod {
  const { license } = command;
  const nowMs = deps.clock.now();
  const period = creditPeriod(license, nowMs);
  const generation = newGeneration({
    requestId: command.requestId,
    licenseId: license.licenseId,
    keyId: command.keyId,
    keyInFlight: command.keyMaxInFlight === null ? null : true,
    identity,
    body,
    periodStartMs: period.startMs,
    creditsLimit: period.creditsLimit,
    nowMs,
    deadlineSeconds: command.respondAsync ? deps.asyncDeadlineSeconds : deps.deadlineSeconds,
    retentionDays: deps.retentionDays,
    idempotencyKeyHash: command.idempotencyKeyHash,
    moderation: license.moderation && license.moderation.rule,
  });
  return { generation, period };
}

/**
 * Checks whether a request fits into its period now, without reserving its credits.
 * @returns the period's totals.
 * @throws CREDIT_LIMIT_EXCEEDED
 */
async function checkCredits(
  request: InPeriod,
  { license, keyId, keyBudget }: GenerationCommand,
  { periods }: Pick<DecisionDeps, 'periods'>,
): Promise<Period> {
  const totals = await periods.get(license.licenseId, request.period.startMs);
  const needed = neededExtra(request.generation.credits, totals, request.period.creditsLimit);
  if (needed > 0) {
    const extra = await periods.extraLeft(license, request.generation.createdAtMs);
    if (needed > (extra?.remaining ?? 0)) throw overLimit(request, license);
  }
  const { committed = 0 } = totals.byKey[keyId] ?? {};
  if (!fitsBudget(keyBudget, committed, request.generation.credits)) throw overKeyBudget(request, keyBudget!);
  return totals;
}

/** @throws RATE_LIMITED */
function checkInFlight({ license, keyId, keyMaxInFlight }: GenerationCommand, totals: Period): void {
  const most = maxInFlight(license);
  if (totals.inFlight >= most) throw tooManyInFlight('license', most);
  if (keyMaxInFlight === null) return;
  const { [inFlightName(keyId)]: ofKey = 0 } = totals.inFlightByKey;
  if (ofKey >= keyMaxInFlight) throw tooManyInFlight('key', keyMaxInFlight);
}

/**
 * @returns the request that an idempotency key stands for; null when it ended without a result, so that another may run.
 * @throws IDEMPOTENCY_MISMATCH, IDEMPOTENCY_IN_PROGRESS, REQUEST_NOT_FOUND when it was deleted
 */
export async function findReplay(
  idempotencyRecord: IdempotencyRecord,
  command: GenerationCommand,
  deps: Pick<DecisionDeps, 'generations'>,
): Promise<Generation | null> {
  if (idempotencyRecord.bodyHash !== command.bodyHash) {
    throw new ServiceError(
      'IDEMPOTENCY_MISMATCH',
      ({ idempotencyKey, body }) =>
        `This ${idempotencyKey} was used with another ${body}. Send the same ${body} again, or use a new key.`,
    );
  }
  const first = await deps.generations.get(command.license.licenseId, idempotencyRecord.requestId);
  // One write stored the idempotency record and the request, and the request is kept longer. Only a deletion takes it away.
  if (first === null) throw deleted();
  if (!isFinal(first.status)) throw inProgress(idempotencyRecord);
  return first.status === 'COMPLETED' ? first : null;
}

function deleted(): ServiceError {
  return new ServiceError(
    'REQUEST_NOT_FOUND',
    ({ idempotencyKey }) =>
      `The first request with this ${idempotencyKey} was deleted. Use a new key to generate again.`,
  );
}

export function inProgress(idempotencyRecord: IdempotencyRecord): ServiceError {
  return new ServiceError(
    'IDEMPOTENCY_IN_PROGRESS',
    ({ idempotencyKey }) =>
      `The first request with this ${idempotencyKey} is still running. Repeat this one in a moment for its result.`,
    { requestId: idempotencyRecord.requestId },
  );
}

/** For a program that tries again by itself, without an idempotency key. */
export function anotherTryRuns(requestId?: string): ServiceError {
  const sentence = 'Another try of this request is still running. Repeat it in a moment for its result.';
  return new ServiceError('IDEMPOTENCY_IN_PROGRESS', sentence, { requestId });
}

function noModel(identity: Identity): ServiceError {
  return new ServiceError(
    'IDENTITY_UNAVAILABLE',
    `${identity.name} has no active model at the moment. Try again later, or use another identity.`,
  );
}
