import type { OutputFormat } from '../contract.ts';
import './without-maglev.ts';
import { MODEL_VERSION } from '../model-version.ts';
import { develop } from './finish.ts';
import { encodePicture } from './picture-file.ts';
import { encodePreview } from './preview.ts';
import type { Pixels } from './png.ts';
import { withReferences } from './references/compose.ts';
import type { References } from './references/reference.ts';
import { createRandom, hash } from './random.ts';
import { createScene } from './scene.ts';
import type { Character } from './scene.ts';
import { forms, formNames } from './styles/forms.ts';
import type { FormName } from './styles/forms.ts';
import { readTraits } from './traits.ts';
import { xmpPacket } from './xmp.ts';

/** Everything that a picture depends on. */
export interface PictureOptions {
  prompt: string;
  negativePrompt: string;
  /** Of this picture, 0 … 2^32 − 1. */
  seed: number;
  /** 20 … 50. */
  numInferenceSteps: number;
  guidanceScale: number;
  width: number;
  height: number;
  identityId: string;
  /** For the file's metadata: no picture depends on it. */
  identityVersion?: number | undefined;
  style?: string;
  /** Of the file; the picture is the same in each. */
  outputFormat: OutputFormat;
  /** Whether the file says all that the picture was made from, the prompt too. */
  embedParameters: boolean;
  /** Whether a preview is made, too. */
  withPreview: boolean;
  /** At least one image, if any at all. */
  references?: References;
}

export interface PaintedFiles {
  file: Uint8Array<ArrayBuffer>;
  /** Left out where none is wanted, or none could be made. */
  preview?: Uint8Array<ArrayBuffer>;
}

/**
 * Paints one picture and returns its files. The same options always give the same bytes.
 *
 * @param tick is called every few milliseconds with the finished share of the work, 0 … 1. What it throws ends the work.
 */
export async function paintPicture(
  options: PictureOptions,
  tick: (share: number) => void,
): Promise<PaintedFiles> {
  const { width, height, outputFormat } = options;
  const pixels = { width, height, bytes: paintPixels(options, (share) => tick(share * 0.9)) };
  const file = await encodePicture(pixels, outputFormat, describe(options));
  const preview = options.withPreview ? await previewOf(pixels, options) : undefined;
  tick(1);
  return { file, ...(preview && { preview }) };
}

/** Never throws: the picture is as good without it. Its file never has the prompt, which may be longer than a preview is large. */
async function previewOf(pixels: Pixels, options: PictureOptions): Promise<PaintedFiles['preview']> {
  try {
    return await encodePreview(pixels, describe({ ...options, embedParameters: false }));
  } catch (error) {
    console.error('The painter could not make a preview:', error);
    return undefined;
  }
}

/** The picture's pixels alone, 8-bit RGB. */
function paintPixels(options: PictureOptions, tick: (share: number) => void): Uint8Array {
  const { form, character } = chooseForm(options);
  const { paint, film } = forms[form];
  const detail = (options.numInferenceSteps - 20) / 30;
  const scene = createScene({
    width: options.width,
    height: options.height,
    seed: options.seed,
    prompt: options.prompt,
    style: form,
    detail,
    traits: readTraits(options.prompt, options.negativePrompt, options.guidanceScale),
    character,
    tick: (share) => tick(share * 0.8),
  });
  paint(scene);
  const compose =
    options.references && withReferences(scene, options.references, hash(options.seed, 'table'));
  compose?.beforeFilm();
  const grain = film.grain * (1.25 - 0.4 * detail);
  const exposure = film.exposure * createRandom(hash(options.seed, options.prompt)).range(0.96, 1.04);
  const developing = { ...film, grain, exposure, seed: hash(options.seed, 'grain') };
  const bytes = develop(scene.canvas, developing, (share) => tick(0.8 + share * 0.2));
  compose?.afterFilm(bytes);
  return bytes;
}

/** A known style is a form in its own colors. Any other identity gets a form and colors from its id. */
function chooseForm({ style, identityId }: PictureOptions): { form: FormName; character: Character } {
  const known = formNames.find((name) => name === style);
  if (known !== undefined) return { form: known, character: { hueShift: 0, chroma: 1, habit: 0 } };
  const habit = hash('identity', identityId, style ?? '');
  const random = createRandom(habit);
  const form = random.pick(formNames);
  return { form, character: { hueShift: random.range(35, 325), chroma: random.range(0.7, 1.15), habit } };
}

/** The file's metadata. Pictures get published, so who asked for it and with which words is left out unless it is wanted. */
function describe(options: PictureOptions): string {
  const { seed, width, height, embedParameters } = options;
  const facts = { seed, width, height, modelVersion: MODEL_VERSION };
  return xmpPacket(MODEL_VERSION, embedParameters ? { ...facts, ...parametersOf(options) } : facts);
}

function parametersOf(options: PictureOptions): object {
  const { prompt, negativePrompt, numInferenceSteps, guidanceScale } = options;
  // Ids differ in each data folder, so a known style is named instead. The picture depends on nothing else of the identity.
  const identity = formNames.find((name) => name === options.style) ?? options.identityId;
  const { identityVersion } = options;
  const asked = { prompt, negativePrompt, numInferenceSteps, guidanceScale, identity, identityVersion };
  return { ...asked, ...describeReferences(options) };
}

function describeReferences({ references }: PictureOptions): object {
  if (references === undefined) return {};
  const { mode: referenceMode, preserveBranding, images } = references;
  return { referenceMode, preserveBranding, references: images.map(({ sha256 }) => ({ sha256 })) };
}
