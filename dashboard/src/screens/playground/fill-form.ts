import type { PlaygroundBody } from '../../api/generate.ts';
import type { IdentityAnswer, StoredGeneration } from '../../api/types.ts';
import { defaultValues, sizeOf, type FormValues, type TierLimits } from './form-values.ts';
import { fitSize, isPreset } from './sizes.ts';

export interface Filled {
  values: FormValues;
  /** What had to be changed or left out, in sentences. */
  notes: string[];
}

/** A stored request as form values, its seed kept. */
export function fromStored(stored: StoredGeneration): FormValues {
  return {
    identityId: stored.identity.id,
    prompt: stored.prompt,
    negativePrompt: stored.negativePrompt,
    width: String(stored.width),
    height: String(stored.height),
    customSize: false,
    numOutputs: stored.numOutputs,
    steps: String(stored.steps),
    guidance: String(stored.cfgScale),
    seed: String(stored.seed),
  };
}

/** What this screen once sent, as form values. `seed` is the one that was used. */
export function fromBody(body: PlaygroundBody, seed: number): FormValues {
  return {
    ...defaultValues,
    identityId: body.identityId,
    prompt: body.prompt,
    negativePrompt: body.negativePrompt ?? '',
    width: String(body.width ?? 1024),
    height: String(body.height ?? 1024),
    numOutputs: body.numOutputs ?? 1,
    steps: String(body.numInferenceSteps ?? 30),
    guidance: String(body.guidanceScale ?? 7.5),
    seed: String(seed),
  };
}

/** Values within the tier. What is being typed stays as it is: the form says what is wrong with it. */
export function fitToTier(values: FormValues, limits: TierLimits): Filled {
  const notes: string[] = [];
  const fitted = { ...values };
  const size = sizeOf(values);
  if (size !== null && Math.max(size.width, size.height) > limits.maxSidePx) {
    const { width, height } = fitSize(size, limits.maxSidePx);
    fitted.width = String(width);
    fitted.height = String(height);
    notes.push(
      `The size is ${width} × ${height} instead of ${size.width} × ${size.height}: ${limits.tier} allows ${limits.maxSidePx} pixels a side.`,
    );
  }
  if (values.numOutputs > limits.maxOutputs) {
    fitted.numOutputs = limits.maxOutputs;
    const most = limits.maxOutputs === 1 ? 'one image' : `${limits.maxOutputs} images`;
    notes.push(
      `It makes ${most} instead of ${values.numOutputs}: that is what ${limits.tier} allows in a request.`,
    );
  }
  const now = sizeOf(fitted);
  if (now !== null && !isPreset(now, limits.maxSidePx)) fitted.customSize = true;
  return { values: fitted, notes };
}

/**
 * Values with an identity that the license may use and that is there: a wanted one that is not is replaced by the
 * first that is. `wantedName` names it in the note; without it nothing is said.
 */
export function fitToIdentities(
  values: FormValues,
  identities: IdentityAnswer[],
  wantedName?: string,
): Filled {
  const wanted = identities.find(({ id }) => id === values.identityId);
  if (wanted?.available) return { values, notes: [] };
  const other = identities.find(({ available }) => available);
  const chosen = { ...values, identityId: other?.id ?? '' };
  if (wantedName === undefined) return { values: chosen, notes: [] };
  const why =
    wanted === undefined
      ? `Your license does not cover ${wantedName}`
      : `${wantedName} has no active model right now`;
  const instead =
    other === undefined ? 'no other identity is available either' : `${other.name} is chosen instead`;
  return { values: chosen, notes: [`${why}: ${instead}.`] };
}

/** Fills the form from a stored request: within the tier, with an identity that can be used. */
export function fillFromStored(
  stored: StoredGeneration,
  limits: TierLimits,
  identities: IdentityAnswer[],
): Filled {
  const tier = fitToTier(fromStored(stored), limits);
  const identity = fitToIdentities(tier.values, identities, stored.identity.name);
  const references = stored.type === 'text_to_image' ? [] : ['Its reference images are not carried over.'];
  return { values: identity.values, notes: [...identity.notes, ...tier.notes, ...references] };
}
