import type { Lch } from './color.ts';
import { exp } from './math.ts';
import { recognize } from './vocabulary.ts';
import type { Meaning, Mood, Subject, Time } from './vocabulary.ts';

/** What a prompt asks for, and what a negative prompt refuses. */
export interface Traits {
  /** How strongly all of this shapes the picture, 0 … 1, from the guidance scale. */
  strength: number;
  /** At most three, in the order named. */
  colors: Lch[];
  refusedColors: Lch[];
  /** The last one named. */
  time: Time | undefined;
  refusedTimes: Set<Time>;
  /** −1 … 1 each. */
  moods: Partial<Record<Mood, number>>;
  wanted: Set<Subject>;
  refused: Set<Subject>;
}

/** Reads the traits of a prompt. What the negative prompt names is left out, and its opposite is wanted. */
export function readTraits(prompt: string, negativePrompt: string, guidanceScale: number): Traits {
  const asked = recognize(prompt);
  const refusals = recognize(negativePrompt);
  const refusedColors = refusals.flatMap(({ color }) => (color ? [color] : []));
  const refusedTimes = new Set(refusals.flatMap(({ time }) => (time ? [time] : [])));
  const refused = new Set(refusals.flatMap(({ subject }) => (subject ? [subject] : [])));
  const colors = asked.flatMap(({ color }) => (color && !refusedColors.includes(color) ? [color] : []));
  const times = asked.flatMap(({ time }) => (time && !refusedTimes.has(time) ? [time] : []));
  const wanted = asked.flatMap(({ subject }) => (subject && !refused.has(subject) ? [subject] : []));
  return {
    strength: 1 - 0.95 * exp(-guidanceScale / 5.5),
    colors: [...new Set(colors)].slice(0, 3),
    refusedColors,
    time: times.at(-1),
    refusedTimes,
    moods: readMoods(asked, refusals),
    wanted: new Set(wanted),
    refused,
  };
}

function readMoods(asked: Meaning[], refusals: Meaning[]): Partial<Record<Mood, number>> {
  const moods: Partial<Record<Mood, number>> = {};
  for (const { mood = {} } of asked) {
    for (const [name, value] of Object.entries(mood) as [Mood, number][]) {
      moods[name] = Math.max(-1, Math.min(1, (moods[name] ?? 0) + value));
    }
  }
  for (const { mood = {} } of refusals) {
    for (const [name, value] of Object.entries(mood) as [Mood, number][]) moods[name] = -value;
  }
  return moods;
}
