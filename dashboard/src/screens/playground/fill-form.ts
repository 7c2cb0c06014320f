import type { IdentityAnswer, StoredGeneration } from '../../lib/types.ts';
import { sizeOf, type FormValues, type TierLimits } from './form-values.ts';
import type { Reference } from './references/reference.ts';
import { fitSize } from './sizes.ts';

interface Filled {
  values: FormValues;
  notes: string[];
}

export function fromStored(stored: StoredGeneration): FormValues {
  return {
    identityId: stored.identity.id,
    identityVersion: String(stored.identityVersion ?? ''),
    otherVersion: '',
    prompt: stored.prompt,
    negativePrompt: stored.negativePrompt,
    width: String(stored.width),
    height: String(stored.height),
    customSize: false,
    isOwnSize: true,
    numOutputs: stored.numOutputs,
    outputFormat: stored.outputFormat,
    steps: String(stored.steps),
    guidance: String(stored.cfgScale),
    seed: String(stored.seed),
    referenceMode: stored.type === 'text_to_image' ? 'reference' : stored.referenceMode,
    preserveBranding: stored.type !== 'text_to_image' && stored.preserveBranding,
  };
}

/** Limits values to the tier. Text that is no valid size stays; the form says what is wrong with it. */
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
  return { values: fitted, notes };
}

/** What changes in the form when somebody chooses an identity. */
export function chooseIdentity(
  values: FormValues,
  identity: IdentityAnswer,
  limits: TierLimits,
): Partial<FormValues> {
  const isOwnSize = values.isOwnSize && identity.id === values.identityId;
  return { identityId: identity.id, ...sizeWith(identity, values, limits), isOwnSize };
}

/** The identity's default size within the tier, unless another one was chosen. */
function sizeWith(
  { defaultSize }: IdentityAnswer,
  { isOwnSize }: FormValues,
  { maxSidePx }: TierLimits,
): Partial<FormValues> {
  if (isOwnSize) return {};
  const { width, height } = fitSize(defaultSize, maxSidePx);
  return { width: String(width), height: String(height), customSize: false };
}

/**
 * Replaces an identity that the license can't use now by the first that it can. The note calls the identity
 * `wantedName`; without a name there is no note.
 */
export function fitToIdentities(
  values: FormValues,
  identities: IdentityAnswer[],
  limits: TierLimits,
  wantedName?: string,
): Filled {
  const wanted = identities.find(({ id }) => id === values.identityId);
  if (wanted?.available) return { values, notes: [] };
  const other = identities.find(({ available }) => available);
  const size = other && sizeWith(other, values, limits);
  const chosen = { ...values, ...size, identityId: other?.id ?? '', identityVersion: '', otherVersion: '' };
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
  const identity = fitToIdentities(tier.values, identities, limits, stored.identity.name);
  return { values: identity.values, notes: [...identity.notes, ...tier.notes] };
}

/**
 * The reference images for the form when a stored request is used again. They are not kept, so those of this visit's
 * own request are taken, else those in the form; none if the request had none. For an identity that takes no reference
 * images nothing changes.
 */
export function fillReferences(
  stored: StoredGeneration,
  own: readonly Reference[] | undefined,
  present: readonly Reference[],
  identity: IdentityAnswer | undefined,
): { references: readonly Reference[]; notes: string[] } {
  if (identity?.productPhotos !== true) return { references: present, notes: [] };
  if (own !== undefined) return { references: own, notes: [] };
  const some = present.length > 0;
  if (stored.type === 'text_to_image') {
    const note = 'It was made without reference images: those in the form are taken out.';
    return { references: [], notes: some ? [note] : [] };
  }
  const advice = some ? 'Those in the form are what you added last.' : 'Add them again.';
  return { references: present, notes: [`Its reference images were deleted when it ended. ${advice}`] };
}

interface Choice {
  identityId: string;
  /** Where one had to be found: the others that the user may choose. */
  others: IdentityAnswer[];
  note: string | null;
}

/**
 * The identity for a picture that becomes a reference image: its own, else the one in the form, else the first that takes
 * reference images, so that nobody pays for an image without the reference.
 * @returns a sentence where no identity can be used
 */
export function chooseForReference(
  identities: readonly IdentityAnswer[],
  own: { id: string; name: string },
  presentId: string,
): Choice | { problem: string } {
  const takers = identities.filter(({ productPhotos, available }) => productPhotos && available);
  if (takers.some(({ id }) => id === own.id)) return { identityId: own.id, others: [], note: null };
  const present = takers.find(({ id }) => id === presentId);
  const why = whyNot(identities, own);
  if (present !== undefined) {
    return { identityId: presentId, others: [], note: `${why}. ${present.name}, which is chosen, does.` };
  }
  const [taker, ...others] = takers;
  if (taker === undefined) return { problem: noTaker(identities) };
  const note = `${why}. ${taker.name}, which takes reference images, is chosen instead.`;
  return { identityId: taker.id, others, note };
}

function whyNot(identities: readonly IdentityAnswer[], own: { id: string; name: string }): string {
  const known = identities.find(({ id }) => id === own.id);
  if (known === undefined) return `Your license does not cover ${own.name}`;
  return known.productPhotos
    ? `${own.name} has no active model right now`
    : `${own.name} takes no reference images`;
}

function noTaker(identities: readonly IdentityAnswer[]): string {
  const unavailable = identities.filter(({ productPhotos }) => productPhotos).map(({ name }) => name);
  return unavailable.length === 0
    ? 'None of your license’s identities takes reference images.'
    : `Of your license’s identities ${unavailable.join(' and ')} takes reference images, but has no active model right now.`;
}
