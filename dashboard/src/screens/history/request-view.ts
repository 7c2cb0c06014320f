import type { StoredGeneration } from '../../api/types.ts';

const seeds = 2 ** 32;

/** The seed that image `index` (from 0) was made with. */
export function outputSeed(seed: number, index: number): number {
  return (seed + index) % seeds;
}

/** `aurora-9c8f2b1d-0-seed42.png`: says whose it is, which request's, which of its images (from 0), and its seed. */
export function outputFileName(
  { id, identity, seed }: Pick<StoredGeneration, 'id' | 'identity' | 'seed'>,
  index: number,
): string {
  const name = (identity.slug || identity.name)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return `${name || 'image'}-${requestIdTail(id)}-${index}-seed${outputSeed(seed, index)}.png`;
}

/** The end of a request id: its beginning is a time, which neighbours share. */
export function requestIdTail(id: string): string {
  return id.slice(-8);
}

type SampleBody = Record<string, string | number | boolean>;

/**
 * The body of POST /generate that makes the same images again: everything that shapes them is named, so that it holds
 * whatever the defaults become; members that said nothing are left out. Reference images are not stored, so they are
 * not in it, and whoever copies the body has to be told.
 */
export function sampleBody(generation: StoredGeneration): SampleBody {
  const { identity, prompt, negativePrompt, width, height, numOutputs, type } = generation;
  return {
    identityId: identity.id,
    prompt,
    ...(negativePrompt !== '' && { negativePrompt }),
    seed: generation.seed,
    width,
    height,
    numOutputs,
    numInferenceSteps: generation.steps,
    guidanceScale: generation.cfgScale,
    ...(type !== 'text_to_image' && { referenceMode: generation.referenceMode }),
    ...(generation.preserveBranding && { preserveBranding: true }),
  };
}

/** `1024 × 768` pixels. */
export function formatSize({ width, height }: Pick<StoredGeneration, 'width' | 'height'>): string {
  return `${width} × ${height}`;
}

/**
 * The width that shows an image whole: never larger than it is, nor higher than most of the window.
 * @returns a CSS length
 */
export function stageWidth({ width, height }: Pick<StoredGeneration, 'width' | 'height'>): string {
  return `min(${width}px, ${Math.round((72 * width * 1000) / height) / 1000}dvh)`;
}

/** The requests beside this one in a list that is newest first. */
export function neighbours(
  list: readonly Pick<StoredGeneration, 'id'>[],
  id: string,
): { newer: string | null; older: string | null; isLast: boolean } {
  const at = list.findIndex((item) => item.id === id);
  if (at < 0) return { newer: null, older: null, isLast: false };
  return {
    newer: list[at - 1]?.id ?? null,
    older: list[at + 1]?.id ?? null,
    isLast: at === list.length - 1,
  };
}
