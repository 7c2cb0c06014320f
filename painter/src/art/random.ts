/** Seeded random numbers in 32-bit integer arithmetic: the same sequence on every machine, nothing from the clock. */

export interface Random {
  /** 0 ≤ x < 1. */
  unit(): number;
  range(low: number, high: number): number;
  /** A whole number, both ends included. */
  int(low: number, high: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** About normal, mean 0, deviation 1, never beyond ±3.5. */
  gauss(): number;
}

/** Hashes numbers and texts, in their order, to 32 bits (FNV-1a with a murmur finish). */
export function hash(...parts: (string | number)[]): number {
  let state = 0x811c9dc5;
  for (const part of parts) {
    const text = typeof part === 'number' ? `#${part}` : `"${part}`;
    for (let i = 0; i < text.length; i += 1) {
      state = Math.imul(state ^ text.charCodeAt(i), 0x01000193);
    }
  }
  return finish(state);
}

function finish(state: number): number {
  let h = state;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** The generator sfc32, warmed up from one 32-bit seed. */
export function createRandom(seed: number): Random {
  let a = finish(seed);
  let b = finish(seed ^ 0x9e3779b9);
  let c = finish(seed ^ 0x243f6a88);
  let counter = 1;
  const next = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 4294967296;
  };
  for (let i = 0; i < 12; i += 1) next();
  const range = (low: number, high: number): number => low + (high - low) * next();
  const int = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    unit: next,
    range,
    int,
    chance: (probability) => next() < probability,
    pick: (items) => items[int(0, items.length - 1)]!,
    gauss: () => (next() + next() + next() + next() - 2) * 1.7320508,
  };
}
