import type { PlaygroundBody } from '../../api/generate.ts';
import type { OutputFormat, ReferenceMode } from '../../api/types.ts';
import type { SampleRequest } from '../../lib/code-samples.ts';
import type { ReferenceBody } from './references/reference.ts';
import { minSidePx, sideStepPx, type Size } from './sizes.ts';

/** What the form holds. Numbers that are typed are text, since what is typed may be no number yet. */
export interface FormValues {
  identityId: string;
  prompt: string;
  negativePrompt: string;
  width: string;
  height: string;
  /** Whether width and height are typed rather than chosen. */
  customSize: boolean;
  numOutputs: number;
  outputFormat: OutputFormat;
  steps: string;
  guidance: string;
  /** Empty: a new one each time. */
  seed: string;
  /** How reference images are used, by identities that take some. The images themselves are in a store of their own. */
  referenceMode: ReferenceMode;
  preserveBranding: boolean;
}

export type FieldName = keyof Omit<FormValues, 'customSize' | 'outputFormat' | 'preserveBranding'>;
export type FormErrors = Partial<Record<FieldName, string>>;

/** What a license's tier allows. */
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
  prompt: '',
  negativePrompt: '',
  width: '1024',
  height: '1024',
  customSize: false,
  numOutputs: 1,
  outputFormat: 'png',
  steps: '30',
  guidance: '7.5',
  seed: '',
  referenceMode: 'reference',
  preserveBranding: false,
};

/** The API counts Unicode code points, not UTF-16 units. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** What the API would refuse, by field, in words for the person at the form. */
export function validate(values: FormValues, limits: TierLimits): FormErrors {
  const errors: Record<Exclude<FieldName, 'referenceMode'>, string | null> = {
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
    steps: integerError(values.steps, stepsRange),
    guidance: decimalError(values.guidance, guidanceRange),
    seed: values.seed.trim() === '' ? null : integerError(values.seed, { min: 0, max: maxSeed }),
  };
  return Object.fromEntries(Object.entries(errors).filter(([, error]) => error !== null)) as FormErrors;
}

function textError(text: string, limit: number): string | null {
  const over = codePoints(text) - limit;
  if (over > 0) return `At most ${limit} characters: ${over} too many.`;
  const clean = text.isWellFormed() && !text.includes('\0');
  return clean
    ? null
    : 'It holds a character that can’t be sent. Remove what was pasted last and type it anew.';
}

function sideError(text: string, { tier, maxSidePx }: TierLimits): string | null {
  const side = integerOf(text);
  if (side !== null && side > maxSidePx) return `${tier} allows at most ${maxSidePx} pixels.`;
  const fits = side !== null && side >= minSidePx && side % sideStepPx === 0;
  return fits ? null : `A multiple of ${sideStepPx} from ${minSidePx} to ${maxSidePx}.`;
}

function integerError(text: string, { min, max }: { min: number; max: number }): string | null {
  const value = integerOf(text);
  return value !== null && value >= min && value <= max ? null : `A whole number from ${min} to ${max}.`;
}

function decimalError(text: string, { min, max }: { min: number; max: number }): string | null {
  const value = decimalOf(text);
  return value !== null && value >= min && value <= max ? null : `A number from ${min} to ${max}.`;
}

/** @returns null for what is no whole number. */
export function integerOf(text: string): number | null {
  return /^\d{1,15}$/.test(text.trim()) ? Number(text) : null;
}

export function decimalOf(text: string): number | null {
  return /^\d{1,6}(\.\d{1,6})?$/.test(text.trim()) ? Number(text) : null;
}

/** The size as far as it is one; null while it is being typed. */
export function sizeOf({ width, height }: Pick<FormValues, 'width' | 'height'>): Size | null {
  const size = { width: integerOf(width), height: integerOf(height) };
  return size.width === null || size.height === null ? null : { width: size.width, height: size.height };
}

/** The request of valid values. Without references it says nothing of how they are used. */
export function toBody(
  values: FormValues,
  licenseId: string,
  referenceImages: ReferenceBody[] | null = null,
): PlaygroundBody {
  return {
    licenseId,
    identityId: values.identityId,
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

/** The same request for POST /generate, where the key stands for the license. `usedSeed` stands in for a seed left open. */
export function toSampleBody(
  values: FormValues,
  usedSeed: number | null,
  referenceImages: ReferenceBody[] | null = null,
): SampleRequest['body'] {
  const { licenseId: _, ...body } = toBody(values, '', referenceImages);
  const seed = body.seed ?? usedSeed;
  return { ...body, ...(seed !== null && { seed }) };
}
