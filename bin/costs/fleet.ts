import type { Inference } from '../../lib/configuration.ts';
import { Failure } from '../common/failure.ts';
import { instancePrices } from './instance-prices.ts';
import { assumptions, hoursPerMonth, type Workload } from './workload.ts';

/** The instances of a month. */
export interface Fleet {
  instanceType: string;
  usdPerHour: number;
  /** Hours in which GPUs paint. */
  paintHours: number;
  instanceHours: number;
  /** Hours of the instances that always run. */
  fewestHours: number;
  /** Share of the instances' time in which they paint. Over 1 they can't paint everything. */
  utilization: number;
}

/**
 * One instance paints one megapixel after another. More than the fewest run where those would paint for more than the
 * assumed share of their time.
 * @returns null where no instance belongs to the deployment.
 * @throws Failure for an instance type whose price is not known.
 */
export function fleetOf(inference: Inference, workload: Workload): Fleet | null {
  if (inference.kind !== 'endpoint') return null;
  const { instanceType, minInstances, maxInstances } = inference;
  const usdPerHour = workload.instancePerHour ?? instancePrices[instanceType];
  if (usdPerHour === undefined) {
    throw new Failure(
      `The price of ${instanceType} is not known here: give it with --instance-price, or add it to bin/costs/instance-prices.ts.`,
    );
  }
  const { generationsPerMonth, secondsPerMegapixel, megapixels, outputs } = workload;
  const paintHours = (generationsPerMonth * secondsPerMegapixel * megapixels * outputs) / 3600;
  const fewestHours = minInstances * hoursPerMonth;
  const wanted = paintHours / assumptions.scalingUtilization.value;
  const instanceHours = Math.min(Math.max(fewestHours, wanted), maxInstances * hoursPerMonth);
  return {
    instanceType,
    usdPerHour,
    paintHours,
    instanceHours,
    fewestHours,
    utilization: paintHours / instanceHours,
  };
}
