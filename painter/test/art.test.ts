import { describe, expect, test } from '@jest/globals';
import { readTraits } from '../src/art/traits.ts';
import { recognize } from '../src/art/vocabulary.ts';

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
});
