import type { Configuration } from '../../lib/configuration.ts';
import { secondsOnCard } from '../../lib/gpus.ts';

/** The load on the service, if nothing else is said. */
export const defaultWorkload = {
  generationsPerMonth: 10_000,
  /** GPU time for one megapixel of one image, where nobody has measured it. */
  seconds: 12,
  megapixels: 1,
  outputs: 1,
  /** How often each image is opened, over its whole life. */
  views: 2,
  /** Accounts that sign in within a month. */
  accounts: 100,
  /** Share of the generations that are asked for with `Prefer: respond-async`. */
  asyncShare: 0.1,
  /** Images that somebody asks for one after another. */
  imagesPerSitting: 5,
};

export type Workload = typeof defaultWorkload & {
  imageBytes: number;
  /** Of an hour of the model's instance, US dollars. @default the price that is known for its type */
  instancePrice?: number;
};

/** The load on a deployment, if nothing else is said. The model takes as long as its operator measured, else as its card does. */
export function usualWorkload({ inference }: Configuration): Workload {
  const measured = inference.kind === 'none' ? null : inference.secondsPerMegapixel;
  const onCard = inference.kind === 'endpoint' ? secondsOnCard(inference.instanceType) : null;
  const seconds = measured ?? onCard ?? defaultWorkload.seconds;
  return { ...defaultWorkload, seconds, imageBytes: usualImageBytes(defaultWorkload.megapixels) };
}

/** Of a PNG by the local painter, average of all its styles. A diffusion model's differ. */
export function usualImageBytes(megapixels: number): number {
  return Math.round(1_244_620 * megapixels);
}

/** Seconds that the model works on a generation. */
export function gpuSeconds({ seconds, megapixels, outputs }: Workload): number {
  return seconds * megapixels * outputs;
}

/** What nobody can count before a model runs. */
export const assumptions = {
  /** Share of the time that an instance generates, where more than the fewest are needed. */
  scalingUtilization: 0.7,
  /** From the request that finds a model scaled to zero until it generates, paid like any others. */
  coldStartMinutes: 10,
  /** For which the instance stays, and is paid, after its model was scaled to zero. */
  leavingMinutes: 10,
  /** Between two images of a sitting. */
  sittingPauseMinutes: 1,
};

export const hoursPerMonth = 730;
export const daysPerMonth = hoursPerMonth / 24;
