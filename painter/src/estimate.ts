import type { PictureOptions } from './art/paint.ts';

/** The weight of the newest picture in the moving average. */
const WEIGHT = 0.3;
/** A picture counts at most as this many times as slow as expected: a laptop that slept must not stop the painter. */
const SLOWEST = 4;

/**
 * The work of one picture: its megapixels. This painter takes no steps and has no second pass for the guidance, so that
 * neither the steps nor the guidance scale change its time by much; all its work goes with the area.
 */
export function workOf({ width, height }: Pick<PictureOptions, 'width' | 'height'>): number {
  return (width * height) / 2 ** 20;
}

/** How long a thread takes for a unit of work, learned from what it painted. */
export interface Rate {
  /** 0 before anything was measured. */
  secondsFor(work: number): number;
  /** A picture was finished. */
  finished(work: number, seconds: number): void;
  /** A picture was stopped after so many of its steps. That is learned only where it shows that painting is slower. */
  stopped(work: number, seconds: number, steps: { done: number; all: number }): void;
  /** What is painted next counts alone: it is tried because what was measured before may be wrong. */
  doubt(): void;
}

export function createRate(): Rate {
  let secondsPerUnit = 0;
  let isMeasured = false;
  const learn = (measured: number): void => {
    const step = Math.min(measured, SLOWEST * secondsPerUnit) - secondsPerUnit;
    // What was only guessed from stopped pictures gives way to the first that was finished.
    secondsPerUnit = isMeasured ? secondsPerUnit + WEIGHT * step : measured;
  };
  return {
    secondsFor: (work) => work * secondsPerUnit,
    finished: (work, seconds) => {
      learn(seconds / work);
      isMeasured = true;
    },
    stopped: (work, seconds, { done, all }) => {
      // On average, half of the step that was stopped was done.
      const measured = (seconds * all) / ((done + 0.5) * work);
      if (measured > secondsPerUnit) learn(measured);
    },
    doubt: () => void (isMeasured = false),
  };
}

/** When a request begins and when its last picture is painted, in seconds from now. */
export interface Times {
  begins: number;
  ends: number;
}

/**
 * Lays requests on threads in their order: each picture goes to the thread that is free first.
 * @param busySeconds what is left of the pictures that were taken before, in their order
 */
export function timesOf(
  requests: { pictures: number; secondsEach: number }[],
  busySeconds: number[],
  threads: number,
): Times[] {
  const freeAt = Array.from({ length: threads }, () => 0);
  const lay = (seconds: number): Times => {
    const begins = Math.min(...freeAt);
    const ends = begins + seconds;
    freeAt[freeAt.indexOf(begins)] = ends;
    return { begins, ends };
  };
  busySeconds.forEach(lay);
  return requests.map(({ pictures, secondsEach }) => {
    const laid = Array.from({ length: pictures }, () => lay(secondsEach));
    return { begins: laid[0]!.begins, ends: Math.max(...laid.map(({ ends }) => ends)) };
  });
}
