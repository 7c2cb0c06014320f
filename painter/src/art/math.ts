/**
 * Arithmetic that comes out the same on every machine.
 *
 * IEEE 754 fixes + − × ÷ and the square root to the last bit, but not sine, exponential or power: those may differ
 * between processors and library versions. A picture has to be the same bytes everywhere, so the painter uses these
 * polynomials instead. They are accurate to about 1e-6, far below one step of an 8-bit channel.
 */

// These constants are numbers in the language's specification, the same everywhere.
const { LN2, LOG2E, PI } = Math;
export const TAU = 2 * PI;
const INVERSE_TAU = 1 / TAU;

const powersOfTwo = new Float64Array(256).fill(1);
for (let i = 127; i >= 0; i -= 1) powersOfTwo[i] = powersOfTwo[i + 1]! / 2;
for (let i = 129; i < 256; i += 1) powersOfTwo[i] = powersOfTwo[i - 1]! * 2;

/** Sine of an angle in radians. */
export function sin(angle: number): number {
  let turn = angle * INVERSE_TAU;
  turn -= Math.floor(turn + 0.5);
  if (turn > 0.25) turn = 0.5 - turn;
  else if (turn < -0.25) turn = -0.5 - turn;
  const x = turn * TAU;
  const q = x * x;
  return x * (1 + q * (-1 / 6 + q * (1 / 120 + q * (-1 / 5040 + q * (1 / 362880 - q / 39916800)))));
}

/** Cosine of an angle in radians. */
export function cos(angle: number): number {
  return sin(angle + PI / 2);
}

/** e to the power x; 0 below −87 and capped above 87, which no light in a picture reaches. */
export function exp(x: number): number {
  const scaled = x * LOG2E;
  if (scaled < -126) return 0;
  if (scaled > 126) return powersOfTwo[254]!;
  const whole = Math.floor(scaled);
  const f = (scaled - whole) * LN2;
  const series =
    1 + f * (1 + f * (1 / 2 + f * (1 / 6 + f * (1 / 24 + f * (1 / 120 + f * (1 / 720 + f / 5040))))));
  return series * powersOfTwo[whole + 128]!;
}

/** Natural logarithm of a positive number. */
export function log(x: number): number {
  let mantissa = x;
  let exponent = 0;
  while (mantissa >= 1.5) {
    mantissa *= 0.5;
    exponent += 1;
  }
  while (mantissa < 0.75) {
    mantissa *= 2;
    exponent -= 1;
  }
  const s = (mantissa - 1) / (mantissa + 1);
  const q = s * s;
  const series = 2 * s * (1 + q * (1 / 3 + q * (1 / 5 + q * (1 / 7 + q * (1 / 9 + q / 11)))));
  return series + exponent * LN2;
}

/** x to the power p for x ≥ 0. */
export function pow(x: number, p: number): number {
  return x <= 0 ? 0 : exp(p * log(x));
}

export function clamp(x: number, low: number, high: number): number {
  return x < low ? low : x > high ? high : x;
}

/** x limited to 0 … 1. */
export function unit(x: number): number {
  return x < 0 ? 0 : x > 1 ? 1 : x;
}

export function mix(a: number, b: number, t: number): number {
  return a + (b - a) * t;
}

/** 0 below `low`, 1 above `high`, a smooth S between; `low` may be the larger of the two. */
export function smooth(low: number, high: number, x: number): number {
  const t = unit((x - low) / (high - low));
  return t * t * (3 - 2 * t);
}
