import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

export type Random = ReturnType<typeof seededRandom>;

/** The first numbers of small seeds are nearly the same ones. */
const skipped = 32;

/** Everything that a simulation leaves to chance comes from one seed. */
export function seededRandom(seed: number) {
  const generator = xoroshiro128plus(seed);
  for (let i = 0; i < skipped; i++) generator.next();
  const random = {
    /** From 0 up to but not 1. */
    float: () => uniformFloat64(generator),
    /** A whole number, both ends included. */
    int: (min: number, max: number) => uniformInt(generator, min, max),
    chance: (probability: number) => probability > 0 && uniformFloat64(generator) < probability,
    pick: <T>(of: readonly T[]): T => of[uniformInt(generator, 0, of.length - 1)]!,
    /** One of the names, by weight. */
    weighted<Name extends string>(weights: Readonly<Partial<Record<Name, number>>>): Name {
      const entries = Object.entries(weights) as [Name, number][];
      let at = random.float() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [name, weight] of entries) if ((at -= weight) < 0) return name;
      return entries.at(-1)![0];
    },
    fill<T extends ArrayBufferView>(view: T): T {
      const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
      for (let i = 0; i < bytes.length; i++) bytes[i] = uniformInt(generator, 0, 255);
      return view;
    },
  };
  return random;
}
