import type { Inference } from '../../lib/configuration.ts';
import { Failure } from '../common/failure.ts';
import { instancePrices } from './instance-prices.ts';
import { sharesByKind, sleepOf, type Endpoint, type Sleep } from './sleep.ts';
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
  /** Share of the instances' time in which they paint. */
  utilization: number;
  /** The same in the busiest hours. Over 1 they can't paint everything. */
  peakUtilization: number;
  /** Null where an instance always runs. */
  sleep: Sleep | null;
}

/**
 * One instance paints one megapixel after another. More than the fewest run where those would paint for more than the
 * assumed share of their time. With at least one that always runs, requests are taken to be spread evenly over the
 * month; whether a model may sleep depends on when they come, so there they come as the assumed traffic does.
 * @returns null where no instance belongs to the deployment.
 * @throws Failure for an instance type whose price is not known.
 */
export function fleetOf(inference: Inference, workload: Workload): Fleet | null {
  if (inference.kind !== 'endpoint') return null;
  if (inference.minInstances === 0) return shapedFleet(inference, workload);
  const load = paintHoursOf(workload) / hoursPerMonth;
  const instances = instancesFor(load, inference);
  return fleet(inference, workload, instances * hoursPerMonth, load / instances);
}

/** The instances of a month whose requests come as the assumed traffic does. */
export function shapedFleet(inference: Endpoint, workload: Workload): Fleet {
  const sleeps = inference.minInstances === 0;
  const kinds = sharesByKind(inference, workload).map(({ load, shares }) => {
    const instances = instancesFor(load.paintHours, inference);
    return {
      instanceHours: load.hours * (sleeps ? instances - shares.asleep : instances),
      utilization: load.paintHours / instances,
    };
  });
  const instanceHours = kinds.reduce((sum, kind) => sum + kind.instanceHours, 0);
  const peak = Math.max(...kinds.map(({ utilization }) => utilization));
  return fleet(inference, workload, instanceHours, peak);
}

/** Instances that run while `load` of them would be painting, on average. */
function instancesFor(load: number, { minInstances, maxInstances }: Endpoint): number {
  const wanted = load / assumptions.scalingUtilization.value;
  return Math.min(Math.max(1, minInstances, wanted), maxInstances);
}

function fleet(
  inference: Endpoint,
  workload: Workload,
  instanceHours: number,
  peakUtilization: number,
): Fleet {
  const paintHours = paintHoursOf(workload);
  return {
    instanceType: inference.instanceType,
    usdPerHour: hourPriceOf(inference, workload),
    paintHours,
    instanceHours,
    fewestHours: inference.minInstances * hoursPerMonth,
    utilization: instanceHours === 0 ? 0 : paintHours / instanceHours,
    peakUtilization,
    sleep: inference.minInstances === 0 ? sleepOf(inference, workload) : null,
  };
}

function hourPriceOf({ instanceType }: Endpoint, { instancePerHour }: Workload): number {
  const usdPerHour = instancePerHour ?? instancePrices[instanceType];
  if (usdPerHour !== undefined) return usdPerHour;
  throw new Failure(
    `The price of ${instanceType} is not known here: give it with --instance-price, or add it to bin/costs/instance-prices.ts.`,
  );
}

function paintHoursOf({ generationsPerMonth, secondsPerMegapixel, megapixels, outputs }: Workload): number {
  return (generationsPerMonth * secondsPerMegapixel * megapixels * outputs) / 3600;
}
