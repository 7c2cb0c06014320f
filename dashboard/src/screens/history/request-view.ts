import type { StoredGeneration } from '../../lib/types.ts';
import type { SampleRequest } from '../../lib/code-samples.ts';

/**
 * The body of POST /generate that makes the same images again. It names all parameters, so that later defaults change
 * nothing. Reference images are not kept; addresses that do not exist stand in their places, so that nobody pays for
 * a different image by mistake.
 */
export function sampleBody(generation: StoredGeneration): SampleRequest['body'] {
  const { identity, identityVersion, prompt, negativePrompt, width, height, numOutputs } = generation;
  const { outputFormat, type } = generation;
  return {
    identityId: identity.id,
    ...(identityVersion !== null && { identityVersion }),
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

/** RFC 2606 reserves `.example`. At least one, because a failed request may have used none of its images. */
function placeholders(count: number): { url: string }[] {
  return Array.from({ length: Math.max(1, count) }, (_, i) => ({
    url: `https://your-site.example/reference-${i + 1}.jpg`,
  }));
}

/** `1024 × 768` pixels. */
export function formatSize({ width, height }: Pick<StoredGeneration, 'width' | 'height'>): string {
  return `${width} × ${height}`;
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
