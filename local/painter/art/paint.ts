import type { OutputFormat } from '../../../shared/contracts/generation.ts';
import { MODEL_VERSION } from '../model-version.ts';
import { develop } from './finish.ts';
import { encodePicture } from './picture-file.ts';
import { withReferences } from './references/compose.ts';
import type { References } from './references/reference.ts';
import { createRandom, hash } from './random.ts';
import { createScene } from './scene.ts';
import type { Character } from './scene.ts';
import { forms, formNames } from './styles/forms.ts';
import type { FormName } from './styles/forms.ts';
import { readTraits } from './traits.ts';

/** Everything that a picture depends on. */
export interface PictureOrder {
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
  style?: string;
  /** Of the file; the picture is the same in each. */
  outputFormat: OutputFormat;
  /** At least one image, if any at all. */
  references?: References;
}

/**
 * Paints one picture and answers its file: the same order gives the same bytes, always.
 *
 * @param tick hears the finished share of the work, 0 … 1, every few milliseconds; what it throws ends the work.
 */
export async function paintPicture(
  order: PictureOrder,
  tick: (share: number) => void,
): Promise<Uint8Array<ArrayBuffer>> {
  const { width, height, outputFormat } = order;
  const bytes = paintPixels(order, (share) => tick(share * 0.9));
  const texts = { parameters: describe(order), Software: MODEL_VERSION };
  const file = await encodePicture({ width, height, bytes }, outputFormat, texts);
  tick(1);
  return file;
}

/** The picture's pixels alone, 8-bit RGB. */
export function paintPixels(order: PictureOrder, tick: (share: number) => void): Uint8Array {
  const { form, character } = chooseForm(order);
  const { paint, film } = forms[form];
  const detail = (order.numInferenceSteps - 20) / 30;
  const scene = createScene({
    width: order.width,
    height: order.height,
    seed: order.seed,
    prompt: order.prompt,
    style: form,
    detail,
    traits: readTraits(order.prompt, order.negativePrompt, order.guidanceScale),
    character,
    tick: (share) => tick(share * 0.8),
  });
  paint(scene);
  const compose = order.references && withReferences(scene, order.references, hash(order.seed, 'table'));
  compose?.beforeFilm();
  const grain = film.grain * (1.25 - 0.4 * detail);
  const exposure = film.exposure * createRandom(hash(order.seed, order.prompt)).range(0.96, 1.04);
  const developing = { ...film, grain, exposure, seed: hash(order.seed, 'grain') };
  const bytes = develop(scene.canvas, developing, (share) => tick(0.8 + share * 0.2));
  compose?.afterFilm(bytes);
  return bytes;
}

/** A known style is a form in its own colours; any other identity gets a form and colours from its id. */
function chooseForm({ style, identityId }: PictureOrder): { form: FormName; character: Character } {
  const known = formNames.find((name) => name === style);
  if (known !== undefined) return { form: known, character: { hueShift: 0, chroma: 1, habit: 0 } };
  const habit = hash('identity', identityId, style ?? '');
  const random = createRandom(habit);
  const form = random.pick(formNames);
  return { form, character: { hueShift: random.range(35, 325), chroma: random.range(0.7, 1.15), habit } };
}

function describe(order: PictureOrder): string {
  const { prompt, negativePrompt, seed, numInferenceSteps, guidanceScale, width, height } = order;
  const asked = { prompt, negativePrompt, seed, numInferenceSteps, guidanceScale, width, height };
  // Ids are made anew with each demo world; a known style is all that its picture owes to the identity.
  const identity = formNames.find((name) => name === order.style) ?? order.identityId;
  return JSON.stringify({ ...asked, identity, ...describeReferences(order), modelVersion: MODEL_VERSION });
}

function describeReferences({ references }: PictureOrder): object {
  if (references === undefined) return {};
  const { mode: referenceMode, preserveBranding, images } = references;
  return { referenceMode, preserveBranding, references: images.map(({ sha256 }) => ({ sha256 })) };
}
