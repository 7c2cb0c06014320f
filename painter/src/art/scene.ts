import { createCanvas } from './canvas.ts';
import type { Canvas } from './canvas.ts';
import { lch, turnHue } from './color.ts';
import type { Lch, Rgb } from './color.ts';
import { cos, mix, sin, unit, TAU } from './math.ts';
import { createNoise } from './noise.ts';
import type { Noise } from './noise.ts';
import { createRandom, hash } from './random.ts';
import type { Random } from './random.ts';
import type { Traits } from './traits.ts';
import type { Mood, Subject, Time } from './vocabulary.ts';

/** Decides which of the prompt's colors changes a color of the picture, and how much. */
export type Role = 'key' | 'accent' | 'ambient' | 'ground';

/** How an identity without a style of its own differs from the style whose form it borrows. */
export interface Character {
  hueShift: number;
  chroma: number;
  /** Part of the seed of every composition, so that the identity keeps its habits. */
  habit: number;
}

/** Everything that a style needs to paint one picture. */
export interface Scene {
  readonly width: number;
  readonly height: number;
  /** The shorter side, the unit of lengths. */
  readonly side: number;
  readonly canvas: Canvas;
  /** 0 at the fewest inference steps … 1 at the most: finer detail, the same composition. */
  readonly detail: number;
  readonly strength: number;
  readonly character: Character;
  /** A stream of random numbers for each thing, so that one more draw for one thing changes nothing else. */
  random(stream: string): Random;
  noise(stream: string): Noise;
  /** A color of the identity as the prompt changes it. */
  tint(role: Role, color: Lch): Rgb;
  /** A mood from −1 or 0 … 1: the identity's own, moved by the prompt. */
  mood(name: Mood, own: number): number;
  /** Shares of the times of day, summing to 1. */
  time(own: Time): Record<Time, number>;
  /** How present a subject is, 0 … 1: certain when asked for, by `chance` otherwise, never when refused. */
  presence(subject: Subject, chance: number): number;
  wants(subject: Subject): boolean;
  /** The subjects that the prompt names, in its order. */
  readonly wanted: readonly Subject[];
  /** Reports progress, 0 … 1. It throws when nobody waits for the picture any more. */
  tick(share: number): void;
}

export interface SceneOptions {
  width: number;
  height: number;
  seed: number;
  prompt: string;
  style: string;
  detail: number;
  traits: Traits;
  character: Character;
  tick(share: number): void;
}

/** How much of the chroma of an asked color a role takes on. Rock stays duller than what glows on it. */
const roleChroma: Record<Role, number> = { key: 0.72, accent: 0.75, ambient: 0.62, ground: 0.35 };
const roleShares: Record<Role, number> = { key: 1, accent: 0.95, ambient: 0.57, ground: 0.45 };

export function createScene(options: SceneOptions): Scene {
  const { width, height, traits, character } = options;
  const seed = hash(options.seed, options.style, options.prompt, character.habit);
  const random = (stream: string): Random => createRandom(hash(seed, stream));
  return {
    width,
    height,
    side: Math.min(width, height),
    canvas: createCanvas(width, height),
    detail: options.detail,
    strength: traits.strength,
    character,
    random,
    noise: (stream) => createNoise(hash(seed, stream, 'noise')),
    tint: (role, color) => lch(tinted(role, color, traits, character)),
    mood: (name, own) => {
      const asked = traits.moods[name] ?? 0;
      const goal =
        asked >= 0 ? mix(own, 1, asked) : mix(own, name === 'density' || name === 'warmth' ? -1 : 0, -asked);
      return mix(own, goal, traits.strength);
    },
    time: (own) => timeShares(own, traits),
    presence: (subject, chance) => {
      const alone = random(`presence ${subject}`).unit() < chance;
      if (traits.refused.has(subject)) return 0;
      if (traits.wanted.has(subject)) return mix(alone ? 0.7 : 0.35, 1, traits.strength);
      return alone ? 0.7 : 0;
    },
    wants: (subject) => traits.wanted.has(subject),
    wanted: [...traits.wanted],
    tick: options.tick,
  };
}

function timeShares(own: Time, traits: Traits): Record<Time, number> {
  const shares: Record<Time, number> = { dawn: 0, noon: 0, dusk: 0, night: 0 };
  const order: Time[] = ['dawn', 'noon', 'dusk', 'night'];
  let start = order.indexOf(own);
  while (traits.refusedTimes.has(order[start % 4]!) && start < 8) start += 1;
  shares[order[start % 4]!] = 1 - (traits.time ? traits.strength : 0);
  if (traits.time) shares[traits.time] += traits.strength;
  return shares;
}

/** Mixes colors in OKLab's plane of a and b. The middle of two hues is then a dull color, not a third hue. */
function tinted(role: Role, own: Lch, traits: Traits, character: Character): Lch {
  const { colors, strength, moods } = traits;
  const asked = {
    key: colors[0],
    accent: colors[1] ?? colors[0],
    ambient: colors[0],
    ground: colors[2] ?? colors[1] ?? colors[0],
  };
  const saturation = 1 + 0.45 * strength * (moods.saturation ?? 0) + 0.12 * (strength - 0.6);
  let lightness = own[0];
  let chroma = own[1] * character.chroma * saturation;
  let hue = own[2] + character.hueShift;
  const color = asked[role];
  if (color) {
    const share = strength * roleShares[role];
    const goal = mix(own[1], color[1], roleChroma[role]) * saturation;
    const a = mix(chroma * cosDegrees(hue), goal * cosDegrees(color[2]), share);
    const b = mix(chroma * sinDegrees(hue), goal * sinDegrees(color[2]), share);
    const length = Math.sqrt(a * a + b * b);
    hue = turnHue(hue, color[2], share > 0.5 ? 1 : share);
    if (length > 1e-4) hue = angleOf(a, b, hue);
    chroma = length;
    lightness = unit(lightness * mix(1, 0.55 + 0.75 * color[0], share * (color[1] < 0.06 ? 1 : 0.35)));
  }
  for (const refused of traits.refusedColors) {
    const way = turnHue(0, hue - refused[2], 1);
    if (refused[1] > 0.05 && Math.abs(way) < 60) hue += (way < 0 ? -1 : 1) * (60 - Math.abs(way)) * strength;
  }
  const warmth = 0.022 * strength * (moods.warmth ?? 0);
  return shifted(lightness, chroma, hue, warmth);
}

function shifted(lightness: number, chroma: number, hue: number, warmth: number): Lch {
  if (warmth === 0) return [lightness, chroma, hue];
  const a = chroma * cosDegrees(hue) + warmth * cosDegrees(65);
  const b = chroma * sinDegrees(hue) + warmth * sinDegrees(65);
  return [lightness, Math.sqrt(a * a + b * b), angleOf(a, b, hue)];
}

function cosDegrees(angle: number): number {
  return cos((angle * TAU) / 360);
}

function sinDegrees(angle: number): number {
  return sin((angle * TAU) / 360);
}

/** The angle of a vector in degrees, by bisection from a guess. It needs no arctangent. */
function angleOf(a: number, b: number, guess: number): number {
  let angle = guess;
  for (let step = 90; step > 0.01; step *= 0.5) {
    const turn = cosDegrees(angle) * b - sinDegrees(angle) * a;
    angle += turn >= 0 ? step : -step;
  }
  return angle;
}
