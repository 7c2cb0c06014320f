import { createScene } from './scene.ts';
import { readTraits } from './traits.ts';
import { develop } from './finish.ts';
import { encodePng } from './png.ts';
import { hash } from './random.ts';
export function paint(o: any): Uint8Array {
  const traits = readTraits(o.prompt, o.negativePrompt ?? '', o.guidanceScale ?? 7.5);
  const detail = ((o.numInferenceSteps ?? 30) - 20) / 30;
  const scene = createScene({ width: o.width, height: o.height, seed: o.seed, prompt: o.prompt, style: o.style, detail, traits, character: { hueShift: 0, chroma: 1, habit: 0 }, tick: () => {} });
  const t0 = performance.now();
  o.painter(scene);
  const t1 = performance.now();
  const bytes = develop(scene.canvas, { bloom: 0.16, vignette: 0.28, grain: 3, exposure: 1, contrast: 1, seed: hash(o.seed) }, () => {});
  const t2 = performance.now();
  if (o.raw) { o.report?.(`${o.style} paint ${(t1 - t0).toFixed(0)} develop ${(t2 - t1).toFixed(0)}`); return bytes; }
  const png = encodePng({ width: o.width, height: o.height, bytes }, { Software: 'painter-1' });
  const t3 = performance.now();
  o.report?.(`${o.style} paint ${(t1 - t0).toFixed(0)} develop ${(t2 - t1).toFixed(0)} png ${(t3 - t2).toFixed(0)} size ${png.length}`);
  return png;
}
