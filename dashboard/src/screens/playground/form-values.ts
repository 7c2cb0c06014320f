import type { PlaygroundBody, ReferenceBody } from '../../api/generate.ts';
import type { OutputFormat, ReferenceMode } from '../../lib/types.ts';
import type { SampleRequest } from '../../lib/code-samples.ts';
import { keepDraft, recallDraft, type TabStorage } from '../../lib/drafts.ts';
import { createStore } from '../../lib/store.ts';
import { countCharacters, isReadable } from '../../lib/text.ts';
import { minSidePx, sideStepPx, type Size } from './sizes.ts';

/** The values of the form. Typed numbers are text, because they may not be numbers yet. */
export interface FormValues {
  identityId: string;
  /** Empty for the active one. */
  identityVersion: string;
  /** The version that makes the same images, to compare them; empty for none. */
  otherVersion: string;
  prompt: string;
  negativePrompt: string;
  width: string;
  height: string;
  /** Whether width and height are typed rather than chosen. */
  customSize: boolean;
  /** Whether the size was chosen, or filled in from a request, since the identity was: the next one leaves it then. */
  isOwnSize: boolean;
  numOutputs: number;
  outputFormat: OutputFormat;
  steps: string;
  guidance: string;
  /** Empty for a new seed each time. */
  seed: string;
  /** How reference images are used. The images are in `referenceStore`. */
  referenceMode: ReferenceMode;
  preserveBranding: boolean;
}

type VersionName = 'identityVersion' | 'otherVersion';
export type FieldName = keyof Omit<
  FormValues,
  'customSize' | 'isOwnSize' | 'outputFormat' | 'preserveBranding'
>;
export type FormErrors = Partial<Record<FieldName, string>>;

export interface TierLimits {
  tier: string;
  maxOutputs: number;
  maxSidePx: number;
}

export const promptLimit = 1000;
export const negativePromptLimit = 500;
export const maxSeed = 2 ** 32 - 1;
export const stepsRange = { min: 20, max: 50 };
export const guidanceRange = { min: 1, max: 20, step: 0.5 };

export const defaultValues: FormValues = {
  identityId: '',
  identityVersion: '',
  otherVersion: '',
  prompt: '',
  negativePrompt: '',
  width: '1024',
  height: '1024',
  customSize: false,
  isOwnSize: false,
  numOutputs: 1,
  outputFormat: 'png',
  steps: '30',
  guidance: '7.5',
  seed: '',
  referenceMode: 'reference',
  preserveBranding: false,
};

/** The fields that the API would refuse, with a sentence for each. */
export function validate(values: FormValues, limits: TierLimits): FormErrors {
  const errors: Record<Exclude<FieldName, 'referenceMode' | VersionName>, string | null> = {
    identityId: values.identityId === '' ? 'Choose an identity.' : null,
    prompt:
      values.prompt.trim() === ''
        ? 'Write what the image should show.'
        : textError(values.prompt, promptLimit),
    negativePrompt: textError(values.negativePrompt, negativePromptLimit),
    width: sideError(values.width, limits),
    height: sideError(values.height, limits),
    numOutputs:
      values.numOutputs > limits.maxOutputs ? `${limits.tier} makes at most ${limits.maxOutputs}.` : null,
    steps: rangeError(integerOf(values.steps), stepsRange, 'A whole number'),
    guidance: rangeError(decimalOf(values.guidance), guidanceRange, 'A number'),
    seed:
      values.seed.trim() === ''
        ? null
        : rangeError(integerOf(values.seed), { min: 0, max: maxSeed }, 'A whole number'),
  };
  return Object.fromEntries(Object.entries(errors).filter(([, error]) => error !== null)) as FormErrors;
}

function textError(text: string, limit: number): string | null {
  const over = countCharacters(text) - limit;
  if (over > 0) return `At most ${limit} characters: ${over} too many.`;
  return isReadable(text)
    ? null
    : 'It holds a character that can’t be sent. Remove what was pasted last and type it anew.';
}

function sideError(text: string, { tier, maxSidePx }: TierLimits): string | null {
  const side = integerOf(text);
  if (side !== null && side > maxSidePx) return `${tier} allows at most ${maxSidePx} pixels.`;
  const fits = side !== null && side >= minSidePx && side % sideStepPx === 0;
  return fits ? null : `A multiple of ${sideStepPx} from ${minSidePx} to ${maxSidePx}.`;
}

function rangeError(value: number | null, { min, max }: { min: number; max: number }, kind: string) {
  return value !== null && value >= min && value <= max ? null : `${kind} from ${min} to ${max}.`;
}

/** @returns null for what is no whole number. */
function integerOf(text: string): number | null {
  return /^\d{1,15}$/.test(text.trim()) ? Number(text) : null;
}

export function decimalOf(text: string): number | null {
  return /^\d{1,6}(\.\d{1,6})?$/.test(text.trim()) ? Number(text) : null;
}

/** The size. Null while it is being typed. */
export function sizeOf({ width, height }: Pick<FormValues, 'width' | 'height'>): Size | null {
  const size = { width: integerOf(width), height: integerOf(height) };
  return size.width === null || size.height === null ? null : { width: size.width, height: size.height };
}

/** The request's body for valid values. Without references it has no reference mode. */
export function toBody(
  values: FormValues,
  licenseId: string,
  referenceImages: ReferenceBody[] | null = null,
): PlaygroundBody {
  return {
    licenseId,
    identityId: values.identityId,
    ...(values.identityVersion !== '' && { identityVersion: Number(values.identityVersion) }),
    prompt: values.prompt,
    ...(values.negativePrompt !== '' && { negativePrompt: values.negativePrompt }),
    ...(values.seed.trim() !== '' && { seed: Number(values.seed) }),
    numInferenceSteps: Number(values.steps),
    guidanceScale: Number(values.guidance),
    numOutputs: values.numOutputs,
    width: Number(values.width),
    height: Number(values.height),
    ...(values.outputFormat !== 'png' && { outputFormat: values.outputFormat }),
    ...(referenceImages !== null && {
      referenceImages,
      referenceMode: values.referenceMode,
      preserveBranding: values.preserveBranding,
    }),
  };
}

/** The same for POST /generate, which has no license. `usedSeed` is taken when the form has no seed. */
export function toSampleBody(
  values: FormValues,
  usedSeed: number | null,
  referenceImages: ReferenceBody[] | null = null,
): SampleRequest['body'] {
  const { licenseId: _, ...body } = toBody(values, '', referenceImages);
  const seed = body.seed ?? usedSeed;
  return { ...body, ...(seed !== null && { seed }) };
}

const key = 'form';

/** Form values that outlive the screen and a reload. */
export function createFormStore(storage: () => TabStorage) {
  const { subscribe, get, set } = createStore<FormValues>({ ...defaultValues, ...recall(storage) });
  return {
    subscribe,
    values: get,
    /** Another identity has other versions. */
    change(change: Partial<FormValues>): void {
      const { identityId = get().identityId } = change;
      const isOther = identityId !== get().identityId;
      set({ ...(isOther && { identityVersion: '', otherVersion: '' }), ...change });
      keepDraft(key, get(), storage);
    },
  };
}

function recall(storage: () => TabStorage): Partial<FormValues> {
  const known = Object.entries(recallDraft(key, storage)).filter(
    ([name, value]) =>
      Object.hasOwn(defaultValues, name) && typeof value === typeof defaultValues[name as keyof FormValues],
  );
  return Object.fromEntries(known) as Partial<FormValues>;
}
