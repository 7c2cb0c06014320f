import type { Lch } from './colour.ts';
import { exp } from './math.ts';
import { recognise } from './vocabulary.ts';
import type { Meaning, Mood, Subject, Time } from './vocabulary.ts';

/** What a prompt asks for, and what a negative prompt refuses. */
export interface Traits {
  /** How strongly all of this shapes the picture, 0 … 1, from the guidance scale. */
  strength: number;
  /** At most three, in the order named. */
  colours: Lch[];
  refusedColours: Lch[];
  /** The last one named. */
  time: Time | undefined;
  refusedTimes: Set<Time>;
  /** −1 … 1 each. */
  moods: Partial<Record<Mood, number>>;
  wanted: Set<Subject>;
  refused: Set<Subject>;
}

/** Reads the traits of a prompt; a trait that the negative prompt names is taken out and worked against. */
export function readTraits(prompt: string, negativePrompt: string, guidanceScale: number): Traits {
  const asked = recognise(prompt);
  const refusals = recognise(negativePrompt);
  const refusedColours = refusals.flatMap(({ colour }) => (colour ? [colour] : []));
  const refusedTimes = new Set(refusals.flatMap(({ time }) => (time ? [time] : [])));
  const refused = new Set(refusals.flatMap(({ subject }) => (subject ? [subject] : [])));
  const colours = asked.flatMap(({ colour }) => (colour && !refusedColours.includes(colour) ? [colour] : []));
  const times = asked.flatMap(({ time }) => (time && !refusedTimes.has(time) ? [time] : []));
  const wanted = asked.flatMap(({ subject }) => (subject && !refused.has(subject) ? [subject] : []));
  return {
    strength: 1 - 0.95 * exp(-guidanceScale / 5.5),
    colours: [...new Set(colours)].slice(0, 3),
    refusedColours,
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
