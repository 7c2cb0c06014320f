import type { StoredGeneration } from '../../api/types.ts';
import type { SampleRequest } from '../../lib/code-samples.ts';

/**
 * The body of POST /generate that makes the same images again: everything that shapes them is named, so that it holds
 * whatever the defaults become; members that said nothing are left out. Reference images are not stored: addresses that
 * exist nowhere keep their places, so that nobody pays for another image by mistake, and whoever copies the body has to
 * be told.
 */
export function sampleBody(generation: StoredGeneration): SampleRequest['body'] {
  const { identity, prompt, negativePrompt, width, height, numOutputs, outputFormat, type } = generation;
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
    ...(outputFormat !== 'png' && { outputFormat }),
    ...(type !== 'text_to_image' && {
      referenceImages: placeholders(generation.referenceImagesUsed),
      referenceMode: generation.referenceMode,
    }),
    ...(generation.preserveBranding && { preserveBranding: true }),
  };
}

/** RFC 2606 keeps `.example` for what nobody has. A request that failed may have used none of its images. */
function placeholders(count: number): { url: string }[] {
  return Array.from({ length: Math.max(1, count) }, (_, i) => ({
    url: `https://your-site.example/reference-${i + 1}.jpg`,
  }));
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
