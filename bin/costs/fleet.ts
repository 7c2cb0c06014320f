import type { Inference } from '../../lib/configuration.ts';
import { Failure } from '../common/failure.ts';
import { instanceHourUsd, type Price } from './prices.ts';
import { assumptions, gpuSeconds, hoursPerMonth, type Workload } from './workload.ts';

export type Endpoint = Extract<Inference, { kind: 'endpoint' }>;

/** The instances of a month. */
export type Fleet = ReturnType<typeof fleetOf>;

/**
 * When a month's images are asked for, if most people work in one time zone: hours of a week, and their share of its
 * images. Nobody knows before the service runs: change it here.
 */
const traffic = [
  { when: 'Monday to Friday, 9 to 18', hoursPerWeek: 45, share: 0.7 },
  { when: 'all days, 8 to 22, without those', hoursPerWeek: 53, share: 0.25 },
  { when: 'all days, 22 to 8', hoursPerWeek: 70, share: 0.05 },
];

/**
 * One instance generates one megapixel after another. More than the fewest run where those would be busy for more than
 * the assumed share of their time.
 * @throws Failure for an instance type whose price is not known.
 */
export function fleetOf(inference: Endpoint, workload: Workload) {
  const { minInstances, maxInstances, instanceType } = inference;
  const sittingsPerMonth = (workload.generationsPerMonth * workload.outputs) / workload.imagesPerSitting;
  const hoursPerSitting = (gpuSeconds(workload) / workload.outputs / 3600) * workload.imagesPerSitting;
  const kinds = traffic.map(({ hoursPerWeek, share }) => {
    const hours = (hoursPerWeek / 168) * hoursPerMonth;
    const sittings = sittingsPerMonth * share;
    const load = (sittings / hours) * hoursPerSitting;
    const wanted = Math.max(1, minInstances, load / assumptions.scalingUtilization);
    const shares = scaledToZeroShares(sittings / hours, load, inference, workload);
    return { hours, sittings, load, instances: Math.min(wanted, maxInstances), ...shares };
  });
  type Kind = (typeof kinds)[number];
  const sum = (of: (kind: Kind) => number) => kinds.reduce((total, kind) => total + of(kind), 0);
  const most = (of: (kind: Kind) => number) => Math.max(...kinds.map(of));
  const perSitting = (of: (kind: Kind) => number) =>
    sum((kind) => kind.sittings * of(kind)) / (sittingsPerMonth || 1);
  const instanceHours = sum(({ hours, instances, unpaid }) => hours * (instances - unpaid));
  // Who comes during a cold start comes at any moment of it, so half of it is left.
  const coldStarts = perSitting(({ atZero, starting }) => atZero + starting / 2);
  return {
    instanceType,
    price: hourPriceOf(inference, workload),
    instanceHours,
    alwaysOnHours: minInstances * hoursPerMonth,
    utilization: sum(({ hours, load }) => hours * load) / (instanceHours || 1),
    // Over 1 the most instances can't generate everything.
    peakUtilization: most(({ load, instances }) => load / instances),
    mostInstances: Math.ceil(most(({ instances }) => instances)),
    // Shares, and seconds on average, of all sittings: only their first image waits.
    sittingsThatWait: perSitting(({ atZero, starting }) => atZero + starting),
    waitSeconds: coldStarts * assumptions.coldStartMinutes * 60,
  };
}

/**
 * The formula of sittings: shares of the time in which the first instance is scaled to zero (and no longer paid), or in
 * its cold start. Sittings come by chance, independently (a Poisson process): this is the queue M/G/1 that starts again
 * after W hours of a cold start and stops after K hours without work. Between two times at zero lie, on average,
 *
 *     1/λ at zero, W in the cold start, (1 + λW) × B ÷ (1 − ρ) generating what has come until then,
 *     and e^(λK) − 1 times: 1/λ idle, then B ÷ (1 − ρ) generating
 *
 * with λ sittings an hour, B hours of work in each, ρ = λB. So of the time without work, 1 − ρ, the shares at zero, in
 * the cold start and idle are as 1 to λW to e^(λK) − 1. These are also the shares of sittings that find the model so.
 * Of a time at zero, whose end comes by chance too, the part e^(−λL) is after the L hours in which the instance leaves.
 * A sitting's pauses keep the instance as idleness does.
 */
export function scaledToZeroShares(
  sittingsPerHour: number,
  load: number,
  { minInstances, idleMinutes }: Pick<Endpoint, 'minInstances' | 'idleMinutes'>,
  { imagesPerSitting }: Pick<Workload, 'imagesPerSitting'>,
): { atZero: number; unpaid: number; starting: number } {
  if (minInstances > 0) return { atZero: 0, unpaid: 0, starting: 0 };
  const { coldStartMinutes, leavingMinutes, sittingPauseMinutes } = assumptions;
  const keptMinutes = idleMinutes + (imagesPerSitting - 1) * sittingPauseMinutes;
  const perMinute = sittingsPerHour / 60;
  const coldStarts = perMinute * coldStartMinutes;
  const atZero = Math.max(0, 1 - load) / (Math.exp(perMinute * keptMinutes) + coldStarts);
  return { atZero, unpaid: atZero * Math.exp(-perMinute * leavingMinutes), starting: atZero * coldStarts };
}

function hourPriceOf({ instanceType }: Endpoint, { instancePrice }: Workload): Price {
  const unit = 'instance-hours';
  if (instancePrice !== undefined) return { usd: instancePrice, unit };
  const usd = instanceHourUsd[instanceType];
  if (usd !== undefined) return { usd, unit, unconfirmed: true };
  throw new Failure(
    `The price of ${instanceType} is not known here: give it with --instance-price, or add it to bin/costs/prices.ts.`,
  );
}
