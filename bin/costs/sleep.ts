import type { Inference } from '../../lib/configuration.ts';
import { hourlyLoads, type HourlyLoad } from './traffic.ts';
import { assumptions, type Workload } from './workload.ts';

export type Endpoint = Extract<Inference, { kind: 'endpoint' }>;

/** What the first instance does with its time: shares of an hour that add up to 1. */
export interface InstanceShares {
  /** No instance exists. */
  asleep: number;
  /** The model is gone, and the instance is not yet. */
  leaving: number;
  /** An instance exists, and is paid for, but can't paint yet. */
  waking: number;
  idle: number;
  painting: number;
}

/** How a month goes where the model sleeps when nobody paints. */
export interface Sleep {
  /** Of the first instance. */
  asleepHours: number;
  leavingHours: number;
  wakingHours: number;
  idleHours: number;
  /** Shares of all sittings: whose first image finds the model asleep, or already waking. */
  findAsleep: number;
  findWaking: number;
  /** That a sitting's first image waits for waking, on average over all sittings. */
  waitSeconds: number;
}

/**
 * One instance that sleeps once nobody has asked for `keptHours` after its last work, and that the next sitting wakes.
 * Sittings come by chance, independently (a Poisson process): this is the queue M/G/1 that starts again after
 * `wakingHours` and stops after `keptHours` without work. Between two sleeps lie, on average,
 *
 *     1/λ asleep, W waking, (1 + λW) × B ÷ (1 − ρ) painting what has come until then,
 *     and e^(λK) − 1 times: 1/λ idle, then B ÷ (1 − ρ) painting
 *
 * with λ sittings an hour, B hours of work in each, ρ = λB, W to wake, K to be kept. So of the time without work, 1 − ρ,
 * the shares asleep, waking and idle are as 1 to λW to e^(λK) − 1. Sittings come by chance, so these are also the shares
 * of sittings that find the model so. Of a sleep, whose end comes by chance too, the part e^(−λL) is after the
 * L hours in which the instance leaves.
 */
export function instanceShares(
  { sittingsPerHour, paintHours }: Pick<HourlyLoad, 'sittingsPerHour' | 'paintHours'>,
  { keptHours, wakingHours, leavingHours }: { keptHours: number; wakingHours: number; leavingHours: number },
): InstanceShares {
  const painting = Math.min(1, paintHours);
  const wakings = sittingsPerHour * wakingHours;
  const without = (1 - painting) / (Math.exp(sittingsPerHour * keptHours) + wakings);
  const asleep = without * Math.exp(-sittingsPerHour * leavingHours);
  const waking = without * wakings;
  // Not without × (e^(λK) − 1), which many sittings make 0 × ∞.
  const idle = Math.max(0, 1 - painting - without - waking);
  return { asleep, leaving: without - asleep, waking, idle, painting };
}

/** Shares for hours of each kind. A sitting's pauses keep the model awake as idleness does. */
export function sharesByKind(
  inference: Endpoint,
  workload: Workload,
): { load: HourlyLoad; shares: InstanceShares }[] {
  const pauseMinutes = (workload.imagesPerSitting - 1) * assumptions.sittingPauseMinutes.value;
  const minutes = inference.idleMinutes + pauseMinutes;
  const hours = {
    keptHours: minutes / 60,
    wakingHours: assumptions.wakingMinutes.value / 60,
    leavingHours: assumptions.leavingMinutes.value / 60,
  };
  return hourlyLoads(workload).map((load) => ({ load, shares: instanceShares(load, hours) }));
}

export function sleepOf(inference: Endpoint, workload: Workload): Sleep {
  const kinds = sharesByKind(inference, workload);
  const hoursOf = (state: keyof InstanceShares) =>
    kinds.reduce((sum, { load, shares }) => sum + load.hours * shares[state], 0);
  const sittings = kinds.reduce((sum, { load }) => sum + load.hours * load.sittingsPerHour, 0);
  const findIt = (state: keyof InstanceShares) => {
    if (sittings === 0) return 0;
    const met = kinds.map(({ load, shares }) => load.hours * load.sittingsPerHour * shares[state]);
    return met.reduce((sum, of) => sum + of, 0) / sittings;
  };
  const [findAsleep, findWaking] = [findIt('asleep') + findIt('leaving'), findIt('waking')];
  return {
    asleepHours: hoursOf('asleep'),
    leavingHours: hoursOf('leaving'),
    wakingHours: hoursOf('waking'),
    idleHours: hoursOf('idle'),
    findAsleep,
    findWaking,
    // Who comes while it wakes comes at any moment of that time, so half of it is left.
    waitSeconds: (findAsleep + findWaking / 2) * assumptions.wakingMinutes.value * 60,
  };
}
