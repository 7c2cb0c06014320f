import { paintPicture } from '../../../local/painter/art/paint.ts';
import { formNames } from '../../../local/painter/art/styles/forms.ts';

/** Prints the bytes of one picture of a megapixel in each style. A program of its own: Jest's modules paint slowly. */
const sizes = formNames.map(async (style) => {
  const prompt = 'a calm night over the mountains';
  const order = { prompt, negativePrompt: '', seed: 1, style, outputFormat: 'png' } as const;
  const size = { width: 1024, height: 1024, numInferenceSteps: 30, guidanceScale: 7, identityId: 'idn_x' };
  return (await paintPicture({ ...order, ...size }, () => {})).length;
});
process.stdout.write(JSON.stringify(await Promise.all(sizes)));
