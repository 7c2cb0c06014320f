import { cos, sin, TAU } from './math.ts';
import { createRandom } from './random.ts';

/** Smooth gradient noise and its sums, all about −1 … 1 (`ridged` 0 … 1). */
export interface Noise {
  at(x: number, y: number): number;
  /** Octaves of `at`, each twice as fine and half as strong. */
  fbm(x: number, y: number, octaves: number): number;
  /** Sharp crests where `at` crosses zero, as on mountains: 0 in the valleys, 1 on the crests. */
  ridged(x: number, y: number, octaves: number): number;
  /** A random value 0 … 1 for a whole-numbered cell. */
  cell(x: number, y: number): number;
}

/** Perlin's improved noise with 256 gradients around the circle. */
export function createNoise(seed: number): Noise {
  const { order, gx, gy } = noiseTables(seed);
  const at = (x: number, y: number): number => {
    const x0 = Math.floor(x);
    const y0 = Math.floor(y);
    const fx = x - x0;
    const fy = y - y0;
    const left = order[x0 & 255]!;
    const right = order[(x0 + 1) & 255]!;
    const a = order[left + (y0 & 255)]!;
    const b = order[right + (y0 & 255)]!;
    const c = order[left + ((y0 + 1) & 255)]!;
    const d = order[right + ((y0 + 1) & 255)]!;
    const u = fx * fx * fx * (fx * (fx * 6 - 15) + 10);
    const v = fy * fy * fy * (fy * (fy * 6 - 15) + 10);
    const na = gx[a]! * fx + gy[a]! * fy;
    const nb = gx[b]! * (fx - 1) + gy[b]! * fy;
    const nc = gx[c]! * fx + gy[c]! * (fy - 1);
    const nd = gx[d]! * (fx - 1) + gy[d]! * (fy - 1);
    const top = na + (nb - na) * u;
    return (top + (nc + (nd - nc) * u - top) * v) * 1.5;
  };
  const cell = (x: number, y: number): number => order[order[x & 255]! + (y & 255)]! / 255;
  return { at, fbm: sumOctaves(at), ridged: sumRidges(at), cell };
}

/** Turns each octave against the last one. Otherwise the lines of their lattices would coincide and show. */
function sumOctaves(at: Noise['at']): Noise['fbm'] {
  return (x, y, octaves) => {
    let sum = 0;
    let strength = 0.5;
    let px = x;
    let py = y;
    for (let i = 0; i < octaves; i += 1) {
      sum += strength * at(px, py);
      strength *= 0.5;
      const turned = 1.6 * px + 1.2 * py + 17.3;
      py = 1.6 * py - 1.2 * px + 5.1;
      px = turned;
    }
    return sum;
  };
}

/** After F. Kenton Musgrave's ridged multifractal: fine crests grow only on coarse ones. */
function sumRidges(at: Noise['at']): Noise['ridged'] {
  return (x, y, octaves) => {
    let sum = 0;
    let strength = 0.5;
    let weight = 1;
    let px = x;
    let py = y;
    for (let i = 0; i < octaves; i += 1) {
      const crest = 1 - Math.abs(at(px, py));
      const value = crest * crest * weight;
      sum += strength * value;
      weight = Math.min(1, Math.max(0, value));
      strength *= 0.5;
      const turned = 1.6 * px + 1.2 * py + 17.3;
      py = 1.6 * py - 1.2 * px + 5.1;
      px = turned;
    }
    return sum;
  };
}

function noiseTables(seed: number): { order: Uint8Array; gx: Float64Array; gy: Float64Array } {
  const random = createRandom(seed);
  const order = new Uint8Array(512);
  for (let i = 0; i < 256; i += 1) order[i] = i;
  for (let i = 255; i > 0; i -= 1) {
    const j = random.int(0, i);
    const kept = order[i]!;
    order[i] = order[j]!;
    order[j] = kept;
  }
  order.copyWithin(256, 0, 256);
  const gx = new Float64Array(256);
  const gy = new Float64Array(256);
  for (let i = 0; i < 256; i += 1) {
    const angle = (i / 256) * TAU;
    gx[i] = cos(angle);
    gy[i] = sin(angle);
  }
  return { order, gx, gy };
}
