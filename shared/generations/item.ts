import type { Generation } from './generation.ts';
import type { Item } from '../table/table.ts';
import { itemKeys, leaseIndex, licenseIdOfGeneration, ttlAttribute } from '../table/keys.ts';

/**
 * A new generation as it is stored. Members that are null are left out, and so is what the key says already. The hash of
 * the idempotency key is stored as `onceId`, the name that it has in older records.
 */
export function toItem(generation: Generation): Item {
  const { requestId, licenseId, idempotencyKeyHash, ...rest } = generation;
  const known = Object.entries({ ...rest, onceId: idempotencyKeyHash }).filter(([, value]) => value !== null);
  return {
    ...itemKeys.generation(licenseId, requestId),
    ...Object.fromEntries(known),
    [leaseIndex.partition]: leaseIndex.shardOf(requestId),
    [ttlAttribute]: Math.ceil(generation.expiresAtMs / 1000),
  };
}

export function fromItem(item: Item): Generation {
  return {
    requestId: item.SK,
    licenseId: licenseIdOfGeneration(item),
    keyId: item.keyId,
    // Older records are not.
    countedByKey: item.countedByKey ?? false,
    keyInFlight: item.keyInFlight ?? null,
    status: item.status,
    type: item.type,
    identity: item.identity,
    // Older records have none.
    identityVersion: item.identityVersion ?? null,
    prompt: item.prompt,
    effectivePrompt: item.effectivePrompt ?? null,
    negativePrompt: item.negativePrompt,
    seed: item.seed,
    steps: item.steps,
    cfgScale: item.cfgScale,
    width: item.width,
    height: item.height,
    numOutputs: item.numOutputs,
    // Older records have none: there was only PNG.
    outputFormat: item.outputFormat ?? 'png',
    referenceMode: item.referenceMode,
    preserveBranding: item.preserveBranding,
    // Older records have none.
    referenceImages: item.referenceImages ?? 0,
    credits: item.credits,
    fromExtra: item.fromExtra ?? null,
    periodStartMs: item.periodStartMs,
    creditsLimit: item.creditsLimit ?? null,
    createdAtMs: item.createdAtMs,
    deadlineMs: item.deadlineMs,
    // A request that has ended has no lease any more, so that it leaves the lease index.
    leaseUntilMs: item.leaseUntilMs ?? 0,
    expiresAtMs: item.expiresAtMs,
    beganColdStart: item.beganColdStart ?? null,
    startedAtMs: item.startedAtMs ?? null,
    completedAtMs: item.completedAtMs ?? null,
    errorMessage: item.errorMessage ?? null,
    errorCode: item.errorCode ?? null,
    // Older records have none.
    previews: item.previews ?? null,
    referenceImagesUsed: item.referenceImagesUsed,
    modelVersion: item.modelVersion ?? null,
    moderation: item.moderation ?? null,
    idempotencyKeyHash: item.onceId ?? null,
  };
}
