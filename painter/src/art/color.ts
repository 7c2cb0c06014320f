import { cos, sin, unit, TAU } from './math.ts';

/** Linear light, about 0 … 1 for surfaces and beyond 1 for lights. */
export type Rgb = readonly [red: number, green: number, blue: number];

/** OKLCH: lightness 0 … 1, chroma 0 … about 0.3, hue in degrees. */
export type Lch = readonly [lightness: number, chroma: number, hue: number];

/**
 * Björn Ottosson's OKLCH in linear sRGB. A color out of gamut loses chroma until it fits.
 * https://bottosson.github.io/posts/oklab/
 */
export function lch([lightness, chroma, hue]: Lch): Rgb {
  const angle = (hue * TAU) / 360;
  const cosine = cos(angle);
  const sine = sin(angle);
  for (let c = chroma; ; c *= 0.9) {
    const rgb = oklab(lightness, c * cosine, c * sine);
    if (c < 0.004 || Math.min(...rgb) >= -0.0005) return rgb.map((x) => Math.max(0, x)) as unknown as Rgb;
  }
}

/** Linear sRGB of an OKLab color; out of gamut it has parts below 0 or above 1. */
export function oklab(lightness: number, a: number, b: number): Rgb {
  const l = lightness + 0.3963377774 * a + 0.2158037573 * b;
  const m = lightness - 0.1055613458 * a - 0.0638541728 * b;
  const s = lightness - 0.0894841775 * a - 1.291485548 * b;
  const l3 = l * l * l;
  const m3 = m * m * m;
  const s3 = s * s * s;
  return [
    4.0767416621 * l3 - 3.3077115913 * m3 + 0.2309699292 * s3,
    -1.2684380046 * l3 + 2.6097574011 * m3 - 0.3413193965 * s3,
    -0.0041960863 * l3 - 0.7034186147 * m3 + 1.707614701 * s3,
  ];
}

export function blend(a: Rgb, b: Rgb, t: number): Rgb {
  return [a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t, a[2] + (b[2] - a[2]) * t];
}

export function scale(a: Rgb, factor: number): Rgb {
  return [a[0] * factor, a[1] * factor, a[2] * factor];
}

export function add(a: Rgb, b: Rgb): Rgb {
  return [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
}

export function multiply(a: Rgb, b: Rgb): Rgb {
  return [a[0] * b[0], a[1] * b[1], a[2] * b[2]];
}

export function luminance(a: Rgb): number {
  return a[0] * 0.2126 + a[1] * 0.7152 + a[2] * 0.0722;
}

/** Turns a hue towards another one by the share `t`, the shorter way round. */
export function turnHue(from: number, to: number, t: number): number {
  const way = ((((to - from) % 360) + 540) % 360) - 180;
  return from + way * t;
}

export interface Ramp {
  /** Interleaved linear RGB. */
  readonly light: Float32Array;
  /** The index of the last entry. */
  readonly last: number;
}

/** Colors along 0 … 1, looked up by `Math.floor(t * last) * 3`; stops are [position, color] in rising order. */
export function ramp(stops: readonly (readonly [number, Rgb])[], entries = 1024): Ramp {
  const light = new Float32Array(entries * 3);
  for (let i = 0; i < entries; i += 1) {
    const t = i / (entries - 1);
    let next = 0;
    while (next < stops.length - 1 && stops[next]![0] < t) next += 1;
    const [high, after] = stops[next]!;
    const [low, before] = stops[Math.max(0, next - 1)]!;
    const share = high > low ? unit((t - low) / (high - low)) : 1;
    light.set(blendSoftly(before, after, share), i * 3);
  }
  return { light, last: entries - 1 };
}

/** Blends square roots, because a blend of linear light looks too bright in the middle. */
function blendSoftly(a: Rgb, b: Rgb, t: number): Rgb {
  const channel = (x: number, y: number): number => {
    const root = Math.sqrt(x) + (Math.sqrt(y) - Math.sqrt(x)) * t;
    return root * root;
  };
  return [channel(a[0], b[0]), channel(a[1], b[1]), channel(a[2], b[2])];
}
