import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { cos, exp, log, pow, sin } from '../src/art/math.ts';
import { createRandom, hash } from '../src/art/random.ts';
import { readTraits } from '../src/art/traits.ts';
import { recognize } from '../src/art/vocabulary.ts';

describe('arithmetic that is the same everywhere', () => {
  const angle = fc.double({ min: -1000, max: 1000, noNaN: true });

  test('is close to the functions it stands for', () => {
    fc.assert(
      fc.property(angle, (x) => {
        expect(Math.abs(sin(x) - Math.sin(x))).toBeLessThan(1e-6);
        expect(Math.abs(cos(x) - Math.cos(x))).toBeLessThan(1e-6);
      }),
    );
    fc.assert(
      fc.property(fc.double({ min: -80, max: 80, noNaN: true }), (x) => {
        expect(Math.abs(exp(x) / Math.exp(x) - 1)).toBeLessThan(1e-5);
        expect(Math.abs(log(Math.exp(x)) - x)).toBeLessThan(1e-5);
      }),
    );
    expect(pow(2, 10)).toBeCloseTo(1024, 1);
    expect(pow(0, 3)).toBe(0);
  });
});

describe('seeded random numbers', () => {
  test('are the same for the same seed, and stay so from version to version', () => {
    const random = createRandom(hash(42, 'stars'));

    expect(hash(42, 'stars')).toBe(1651093690);
    expect([random.int(0, 1e9), random.int(0, 1e9), random.int(0, 1000)]).toEqual([
      163554318, 777830757, 443,
    ]);
    expect(hash(1, 'a')).not.toBe(hash('1', 'a'));
    expect(hash('a', 'b')).not.toBe(hash('ab'));
  });

  test('spread evenly', () => {
    const random = createRandom(1);
    const counts = Array.from({ length: 10 }, () => 0);
    for (let i = 0; i < 10_000; i += 1) counts[random.int(0, 9)]! += 1;

    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(150);
  });
});

describe('the words of a prompt', () => {
  test('are recognized in any case and number, and others are passed over', () => {
    expect(recognize('MOUNTAINS, and the quantum Birds').map(({ subject }) => subject)).toEqual([
      'mountain',
      'bird',
    ]);
    expect(recognize('xyzzy 123 !?')).toEqual([]);
  });

  test('give colors in their order, the last time of day, moods and subjects', () => {
    const traits = readTraits('a teal and gold misty city at dawn, no, at night', '', 7.5);

    expect(traits.colors).toHaveLength(2);
    expect(traits.colors[0]![2]).toBe(190);
    expect(traits.time).toBe('night');
    expect(traits.moods.mist).toBe(1);
    expect([...traits.wanted]).toEqual(['city']);
  });

  test('are taken out and worked against when the negative prompt has them', () => {
    const traits = readTraits('red moon in the mist at night', 'moon, red, fog, night', 7.5);

    expect(traits.colors).toEqual([]);
    expect(traits.time).toBeUndefined();
    expect(traits.moods.mist).toBe(-1);
    expect(traits.wanted.has('moon')).toBe(false);
    expect(traits.refused.has('moon')).toBe(true);
  });

  test('count the more the higher the guidance scale is', () => {
    const strengths = [1, 4, 7.5, 12, 20].map((scale) => readTraits('', '', scale).strength);

    expect(strengths).toEqual(strengths.toSorted((a, b) => a - b));
    expect(strengths[0]!).toBeLessThan(0.3);
    expect(strengths[4]!).toBeGreaterThan(0.95);
  });
});
