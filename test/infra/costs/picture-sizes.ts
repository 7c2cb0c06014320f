import { paintPicture } from '../../../local/painter/art/paint.ts';
import { formNames } from '../../../local/painter/art/styles/forms.ts';

/** Prints the bytes of one picture of a megapixel in each style. A program of its own: Jest's modules paint slowly. */
const sizes = formNames.map((style) => {
  const order = { prompt: 'a calm night over the mountains', negativePrompt: '', seed: 1, style };
  const size = { width: 1024, height: 1024, numInferenceSteps: 30, guidanceScale: 7, identityId: 'idn_x' };
  return paintPicture({ ...order, ...size }, () => {}).length;
});
process.stdout.write(JSON.stringify(sizes));
