import type { Generation } from '../domain/generation.ts';
import type { Item } from './table.ts';
import { itemKeys, leaseIndex, sortPrefixes, ttlAttribute } from './table-keys.ts';

/** A new generation as it is stored: what is null is left out, what the key says is not said twice. */
export function toItem(generation: Generation): Item {
  const { requestId, licenseId, ...rest } = generation;
  const known = Object.entries(rest).filter(([, value]) => value !== null);
  return {
    ...itemKeys.generation(licenseId, requestId),
    ...Object.fromEntries(known),
    [leaseIndex.partition]: leaseIndex.shardOf(requestId),
    [ttlAttribute]: Math.ceil(generation.expiresAtMs / 1000),
  };
}

export function fromItem(item: Item): Generation {
  return {
    requestId: requestIdOf(item),
    licenseId: licenseIdOf(item),
    keyId: item.keyId,
    status: item.status,
    type: item.type,
    identity: item.identity,
    prompt: item.prompt,
    negativePrompt: item.negativePrompt,
    seed: item.seed,
    steps: item.steps,
    cfgScale: item.cfgScale,
    width: item.width,
    height: item.height,
    numOutputs: item.numOutputs,
    // Records from before there was a choice.
    outputFormat: item.outputFormat ?? 'png',
    referenceMode: item.referenceMode,
    preserveBranding: item.preserveBranding,
    // Records from before there were reference images.
    referenceImages: item.referenceImages ?? 0,
    credits: item.credits,
    periodStartMs: item.periodStartMs,
    createdAtMs: item.createdAtMs,
    deadlineMs: item.deadlineMs,
    // The lease's end leaves the item with the reservation, and with it the index.
    leaseUntilMs: item.leaseUntilMs ?? 0,
    expiresAtMs: item.expiresAtMs,
    startedAtMs: item.startedAtMs ?? null,
    completedAtMs: item.completedAtMs ?? null,
    errorMessage: item.errorMessage ?? null,
    errorCode: item.errorCode ?? null,
    referenceImagesUsed: item.referenceImagesUsed,
    modelVersion: item.modelVersion ?? null,
    onceId: item.onceId ?? null,
  };
}

export function requestIdOf(key: Item): string {
  return key.SK.slice(sortPrefixes.generation.length);
}

export function licenseIdOf(key: Item): string {
  return key.PK.slice(sortPrefixes.license.length);
}
