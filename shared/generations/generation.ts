import type { CreateGenerationBody, GenerationErrorCode, ReferenceMode } from './contract.ts';
import type { OutputFormat } from '../images/image-types.ts';
import type { GenerationStatus, GenerationType } from '../base/generation-kinds.ts';
import type { Identity } from '../identities/identity.ts';
import { noWords, promptOf } from '../identities/version.ts';
import { maxSeed } from './contract.ts';
import { memberName, ownWords, ServiceError } from '../base/errors.ts';
import { creditCost } from '../licenses/credits.ts';
import { isAccountCallerId } from '../base/ids.ts';
import type { ModerationRule } from '../licenses/license.ts';
import { tiers, type TierName } from '../licenses/tiers.ts';

/** One stored request. Times are milliseconds since 1970. */
export interface Generation {
  requestId: string;
  licenseId: string;
  /** The key that asked, or the account that did in the playground. */
  keyId: string;
  /** Whether its credits are counted by key too, since they were reserved. */
  countedByKey: boolean;
  /** It is counted among its key's requests in flight, because the key had a limit of them when it was accepted; null otherwise. */
  keyInFlight: true | null;
  status: GenerationStatus;
  type: GenerationType;
  /** As they were when the request was accepted. */
  identity: { id: string; name: string; slug: string };
  /** The identity's version that makes it; null in records of before there were versions. */
  identityVersion: number | null;
  prompt: string;
  /** What the model gets for the prompt; null where that is the prompt itself. */
  effectivePrompt: string | null;
  negativePrompt: string;
  seed: number;
  steps: number;
  cfgScale: number;
  width: number;
  height: number;
  numOutputs: number;
  outputFormat: OutputFormat;
  referenceMode: ReferenceMode;
  preserveBranding: boolean;
  /** How many were sent. Their copies are stored beside the outputs. */
  referenceImages: number;
  /** Reserved while it runs, charged once COMPLETED, given back otherwise. */
  credits: number;
  /** How many of these are extra ones, by the balances that they were taken from; null for none. */
  fromExtra: Record<string, number> | null;
  /** Start of the billing period that holds the reservation, whichever month it ends in. */
  periodStartMs: number;
  /** The period's credits when it was accepted; null in records of before this was stored. */
  creditsLimit: number | null;
  createdAtMs: number;
  deadlineMs: number;
  /** From here on the sweep may end the request, because its handler must have died. */
  leaseUntilMs: number;
  /** When the record may be removed, and is no longer shown. */
  expiresAtMs: number;
  /** One of its calls began a cold start of the model, while nobody waited for it; null otherwise. */
  beganColdStart: true | null;
  startedAtMs: number | null;
  completedAtMs: number | null;
  /** For the customer to read; null unless it failed. */
  errorMessage: string | null;
  errorCode: GenerationErrorCode | null;
  /** Which outputs have a preview; null until it completed, and for what was generated before there were previews. */
  previews: boolean[] | null;
  referenceImagesUsed: number;
  modelVersion: string | null;
  /** Its license's own rule for pictures, when it was accepted; null for everybody's. */
  moderation: ModerationRule | null;
  /** Hash of the idempotency key it was sent with. */
  idempotencyKeyHash: string | null;
}

/** How a generation ended without an image. */
export interface GenerationFailure {
  status: 'FAILED' | 'TIMEOUT';
  errorCode: GenerationErrorCode;
  errorMessage: string;
}

export function isFinal(status: GenerationStatus): boolean {
  return status === 'COMPLETED' || status === 'FAILED' || status === 'TIMEOUT';
}

/** The key that asked; null for the playground. */
export function askedByKeyId({ keyId }: Generation): string | null {
  return isAccountCallerId(keyId) ? null : keyId;
}

/** What a customer paid for it. */
export function creditsCharged(generation: Generation): number {
  return generation.status === 'COMPLETED' ? generation.credits : 0;
}

/** From acceptance to completion; null until then. */
export function processingTimeMs(generation: Generation): number | null {
  return generation.completedAtMs === null ? null : generation.completedAtMs - generation.createdAtMs;
}

const longestPollSeconds = 15;

/** How long to wait before a request that has not ended is looked at again: a quarter of its age, 1 to 15 seconds. */
export function pollAfterSeconds({ createdAtMs }: Pick<Generation, 'createdAtMs'>, nowMs: number): number {
  return Math.min(longestPollSeconds, Math.max(1, Math.round((nowMs - createdAtMs) / 4000)));
}

function randomSeed(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0]! % (maxSeed + 1);
}

/**
 * The rules of a body that join fields with each other or with the identity. They are named beside what is wrong with each
 * field, so the body is still as it was sent.
 */
export function referenceProblems(
  { referenceImages, referenceMode }: Record<string, unknown>,
  identity: Identity | null,
  words = ownWords,
): string[] {
  const [images, mode] = ['referenceImages', 'referenceMode'].map((member) => memberName(member, words));
  const problems: string[] = [];
  const areSent = Array.isArray(referenceImages) && referenceImages.length > 0;
  if (areSent && identity?.productPhotos === false) {
    problems.push(`${images} must be left out: ${identity.name} does not take product photos`);
  }
  if (!areSent && referenceMode === 'exact_product') {
    problems.push(`${mode} "exact_product" needs at least one item in ${images}`);
  }
  return problems;
}

/** @throws TIER_LIMIT naming every parameter above the tier. */
export function checkTier(body: CreateGenerationBody, tierName: TierName): void {
  const { label, maxOutputs, maxSidePx } = tiers[tierName];
  const limits = { numOutputs: maxOutputs, width: maxSidePx, height: maxSidePx };
  const above = (Object.keys(limits) as (keyof typeof limits)[]).filter(
    (member) => body[member] > limits[member],
  );
  if (above.length === 0) return;
  throw new ServiceError('TIER_LIMIT', ({ members }) => {
    const problems = above.map((member) => `${members[member] ?? member} must be at most ${limits[member]}`);
    return `On the ${label} tier ${problems.join(' and ')}.`;
  });
}

export interface NewGeneration {
  requestId: string;
  licenseId: string;
  keyId: string;
  keyInFlight: true | null;
  identity: Identity;
  body: CreateGenerationBody;
  periodStartMs: number;
  creditsLimit: number;
  nowMs: number;
  deadlineSeconds: number;
  retentionDays: number;
  idempotencyKeyHash: string | null;
  moderation: ModerationRule | null;
}

/** Presigned links for the model outlive its deadline by this, so that clocks may differ a little. */
export const linkMarginSeconds = 60;

/** A handler that neither settled nor released within this time after the deadline is taken for dead. */
const leaseMarginSeconds = 15;

/** A request that passed every check, as it is first stored. */
export function newGeneration(from: NewGeneration): Generation {
  const { body, identity, nowMs } = from;
  const effectivePrompt = promptOf(identity.model?.words ?? noWords, body.prompt);
  const deadlineMs = nowMs + from.deadlineSeconds * 1000;
  return {
    requestId: from.requestId,
    licenseId: from.licenseId,
    keyId: from.keyId,
    countedByKey: true,
    keyInFlight: from.keyInFlight,
    status: 'QUEUED',
    type: body.referenceImages.length === 0 ? 'text_to_image' : body.referenceMode,
    identity: { id: identity.identityId, name: identity.name, slug: identity.slug },
    identityVersion: identity.model?.number ?? null,
    prompt: body.prompt,
    effectivePrompt: effectivePrompt === body.prompt ? null : effectivePrompt,
    negativePrompt: body.negativePrompt,
    // JSON may say -0, which is the same seed as 0.
    seed: body.seed === undefined ? randomSeed() : body.seed + 0,
    steps: body.numInferenceSteps,
    cfgScale: body.guidanceScale,
    width: body.width,
    height: body.height,
    numOutputs: body.numOutputs,
    outputFormat: body.outputFormat,
    referenceMode: body.referenceMode,
    preserveBranding: body.preserveBranding,
    referenceImages: body.referenceImages.length,
    credits: creditCost(body),
    fromExtra: null,
    periodStartMs: from.periodStartMs,
    creditsLimit: from.creditsLimit,
    createdAtMs: nowMs,
    deadlineMs,
    leaseUntilMs: deadlineMs + leaseMarginSeconds * 1000,
    expiresAtMs: nowMs + from.retentionDays * 24 * 3600 * 1000,
    beganColdStart: null,
    startedAtMs: null,
    completedAtMs: null,
    errorMessage: null,
    errorCode: null,
    previews: null,
    referenceImagesUsed: 0,
    modelVersion: null,
    moderation: from.moderation,
    idempotencyKeyHash: from.idempotencyKeyHash,
  };
}
