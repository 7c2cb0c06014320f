import { pow } from '../math.ts';

/** sRGB's 256 steps as linear light. */
export const linearSteps = Float32Array.from({ length: 256 }, (_, step) => {
  const v = step / 255;
  return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
});

/** The sRGB step of a linear light, not rounded. */
export function encodeSrgb(light: number): number {
  if (light <= 0) return 0;
  if (light >= 1) return 255;
  return 255 * (light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055);
}

const bits = new Int32Array(1);
const float = new Float32Array(bits.buffer);

/** Divides the exponent by three for a first guess, then takes three of Newton's steps. */
function cubeRoot(x: number): number {
  if (x <= 0) return 0;
  float[0] = x;
  bits[0] = Math.floor(bits[0]! / 3) + 0x2a514067;
  let y = float[0];
  for (let i = 0; i < 3; i += 1) y -= (y * y * y - x) / (3 * y * y);
  return y;
}

/** Writes the OKLab color of three sRGB steps (https://bottosson.github.io/posts/oklab/). */
export function writeOklab(red: number, green: number, blue: number, to: Float32Array, at: number): void {
  const r = linearSteps[red]!;
  const g = linearSteps[green]!;
  const b = linearSteps[blue]!;
  const l = cubeRoot(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = cubeRoot(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = cubeRoot(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  to[at] = 0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s;
  to[at + 1] = 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s;
  to[at + 2] = 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s;
}
