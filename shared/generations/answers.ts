import type { ObjectStore } from '../images/object-store.ts';
import type { GenerationAnswer, StoredGeneration } from './answer-contract.ts';
import { isoTime, type Clock } from '../base/clock.ts';
import { creditPeriod } from '../licenses/credit-period.ts';
import { usageBlock } from '../licenses/credits.ts';
import { askedByKeyId, creditsCharged, processingTimeMs, type Generation } from './generation.ts';
import type { License } from '../licenses/license.ts';
import type { UsageHistoryItem } from '../licenses/usage-contract.ts';
import type { PeriodStore } from '../licenses/period-store.ts';

export interface AnswerDeps {
  objects: ObjectStore;
  periods: PeriodStore;
  clock: Clock;
}

/** The answer to a completed request. Its usage is read after it was settled, so it counts everything settled by then. */
export async function completedAnswer(
  generation: Generation,
  license: License,
  deps: AnswerDeps,
): Promise<GenerationAnswer> {
  const { creditsLimit, endMs } = creditPeriod(license, generation.createdAtMs);
  const [outputs, previews, period, extra] = await Promise.all([
    outputLinks(generation, deps.objects),
    previewLinks(generation, deps.objects),
    deps.periods.get(generation.licenseId, generation.periodStartMs),
    deps.periods.extraLeft(license, deps.clock.now()),
  ]);
  return {
    requestId: generation.requestId,
    outputs,
    previews,
    identity: { id: generation.identity.id, name: generation.identity.name },
    identityVersion: generation.identityVersion,
    referenceImagesUsed: generation.referenceImagesUsed,
    usage: usageBlock({
      used: period.used,
      limit: creditsLimit,
      charged: creditsCharged(generation),
      periodEndMs: endMs,
      extra,
    }),
    processingTimeMs: processingTimeMs(generation) ?? 0,
    seed: generation.seed,
  };
}

/** A stored request as its owner reads it, with links signed just now. */
export async function storedAnswer(generation: Generation, objects: ObjectStore): Promise<StoredGeneration> {
  const [outputs, previews] = await Promise.all([
    outputLinks(generation, objects),
    previewLinks(generation, objects),
  ]);
  return { ...storedMembers(generation), outputUrl: outputs[0] ?? null, outputs, previews };
}

/** A stored request as its owner reads it, but for the links. */
export function storedMembers(
  generation: Generation,
): Omit<StoredGeneration, 'outputUrl' | 'outputs' | 'previews'> {
  return {
    id: generation.requestId,
    licenseId: generation.licenseId,
    keyId: askedByKeyId(generation),
    type: generation.type,
    status: generation.status,
    identity: generation.identity,
    identityVersion: generation.identityVersion,
    prompt: generation.prompt,
    effectivePrompt: generation.effectivePrompt,
    negativePrompt: generation.negativePrompt,
    seed: generation.seed,
    steps: generation.steps,
    cfgScale: generation.cfgScale,
    width: generation.width,
    height: generation.height,
    numOutputs: generation.numOutputs,
    outputFormat: generation.outputFormat,
    referenceMode: generation.referenceMode,
    preserveBranding: generation.preserveBranding,
    errorMessage: generation.errorMessage,
    errorCode: generation.errorCode,
    creditsCharged: creditsCharged(generation),
    referenceImagesUsed: generation.referenceImagesUsed,
    processingTimeMs: processingTimeMs(generation),
    modelVersion: generation.modelVersion,
    createdAt: isoTime(generation.createdAtMs),
    startedAt: isoTime(generation.startedAtMs),
    completedAt: isoTime(generation.completedAtMs),
  };
}

async function outputLinks(generation: Generation, objects: ObjectStore): Promise<string[]> {
  if (generation.status !== 'COMPLETED') return [];
  return Promise.all(
    Array.from({ length: generation.numOutputs }, (_, i) => objects.outputLink(generation, i)),
  );
}

async function previewLinks(generation: Generation, objects: ObjectStore): Promise<(string | null)[]> {
  if (generation.status !== 'COMPLETED') return [];
  return Promise.all(
    Array.from({ length: generation.numOutputs }, (_, i) =>
      generation.previews?.[i] === true ? objects.previewLink(generation, i) : null,
    ),
  );
}

/** A request as the period's history lists it. */
export function usageHistoryItem(generation: Generation): UsageHistoryItem {
  const { requestId, type, status, identity, numOutputs, createdAtMs, completedAtMs } = generation;
  return {
    requestId,
    type,
    status,
    identity,
    numOutputs,
    creditsCharged: creditsCharged(generation),
    createdAt: isoTime(createdAtMs),
    completedAt: isoTime(completedAtMs),
  };
}
