import { describe, expect, test } from '@jest/globals';
import { readTraits } from '../../../local/painter/art/traits.ts';
import { recognise } from '../../../local/painter/art/vocabulary.ts';

describe('the words of a prompt', () => {
  test('are recognised in any case and number, and others are passed over', () => {
    expect(recognise('MOUNTAINS, and the quantum Birds').map(({ subject }) => subject)).toEqual([
      'mountain',
      'bird',
    ]);
    expect(recognise('xyzzy 123 !?')).toEqual([]);
  });

  test('give colours in their order, the last time of day, moods and subjects', () => {
    const traits = readTraits('a teal and gold misty city at dawn, no, at night', '', 7.5);

    expect(traits.colours).toHaveLength(2);
    expect(traits.colours[0]![2]).toBe(190);
    expect(traits.time).toBe('night');
    expect(traits.moods.mist).toBe(1);
    expect([...traits.wanted]).toEqual(['city']);
  });

  test('are taken out and worked against when the negative prompt has them', () => {
    const traits = readTraits('red moon in the mist at night', 'moon, red, fog, night', 7.5);

    expect(traits.colours).toEqual([]);
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
