import { isoTime } from '../../shared/domain/clock.ts';
import { creditsCharged, processingTimeMs, type Generation } from '../../shared/domain/generation.ts';

/** The lease's end is stored only while it runs. */
export function leaseUntilMs(generation: Generation): number | null {
  return generation.leaseUntilMs === 0 ? null : generation.leaseUntilMs;
}

/** As GET /generate/{requestId} shows it, without links and with the operator's own members. */
export function generationJson(generation: Generation): Record<string, unknown> {
  return {
    id: generation.requestId,
    requestId: generation.requestId,
    licenseId: generation.licenseId,
    keyId: generation.keyId,
    status: generation.status,
    type: generation.type,
    identity: generation.identity,
    prompt: generation.prompt,
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
    creditsReserved: generation.credits,
    creditsCharged: creditsCharged(generation),
    referenceImagesUsed: generation.referenceImagesUsed,
    processingTimeMs: processingTimeMs(generation),
    modelVersion: generation.modelVersion,
    periodStart: isoTime(generation.periodStartMs),
    createdAt: isoTime(generation.createdAtMs),
    startedAt: isoTime(generation.startedAtMs),
    completedAt: isoTime(generation.completedAtMs),
    deadline: isoTime(generation.deadlineMs),
    leaseUntil: isoTime(leaseUntilMs(generation)),
    expiresAt: isoTime(generation.expiresAtMs),
  };
}
