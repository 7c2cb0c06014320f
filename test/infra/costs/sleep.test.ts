import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { fleetOf, shapedFleet } from '../../../bin/costs/fleet.ts';
import { instanceShares, sleepOf, type Endpoint } from '../../../bin/costs/sleep.ts';
import { hourlyLoads, kindOfHour, trafficShape } from '../../../bin/costs/traffic.ts';
import { assumptions, hoursPerMonth, type Workload } from '../../../bin/costs/workload.ts';
import { endpoint, sleepingDeployment, usdOf, usual } from './sample.ts';
import { monthlyBill } from '../../../bin/costs/model.ts';

const idleHours = 15 / 60;
const wakingHours = assumptions.wakingMinutes.value / 60;
const leavingHours = assumptions.leavingMinutes.value / 60;
const generations = fc.integer({ min: 0, max: 5_000_000 });

/** Any load that an instance type and its users may bring. */
const workloads: fc.Arbitrary<Workload> = fc
  .record({
    generationsPerMonth: generations,
    secondsPerMegapixel: fc.double({ min: 0.1, max: 60, noNaN: true }),
    imagesPerSitting: fc.integer({ min: 1, max: 50 }),
  })
  .map((some) => ({ ...usual, ...some }));

const sleeping = (maxInstances = 100): Endpoint => ({ ...endpoint(), minInstances: 0, maxInstances });

describe('the formula for an instance that sleeps', () => {
  test('has shares that add up, for any load', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1e6, noNaN: true }),
        fc.double({ min: 0, max: 50, noNaN: true }),
        (sittingsPerHour, paintHours) => {
          const shares = Object.values(
            instanceShares(
              { sittingsPerHour, paintHours },
              { keptHours: idleHours, wakingHours, leavingHours },
            ),
          );
          expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9);
          for (const share of shares) expect(share >= 0 && share <= 1).toBe(true);
        },
      ),
    );
  });
});

describe('a model that sleeps when idle', () => {
  test('costs nothing without images', () => {
    const { instanceHours, sleep, utilization } = fleetOf(sleeping(), { ...usual, generationsPerMonth: 0 })!;
    expect({ instanceHours, utilization }).toEqual({ instanceHours: 0, utilization: 0 });
    expect(sleep).toMatchObject({
      asleepHours: hoursPerMonth,
      wakingHours: 0,
      findAsleep: 0,
      waitSeconds: 0,
    });
  });

  test('costs an instance from the waking that one image causes until it has left after idleness', () => {
    const lonely = { ...usual, generationsPerMonth: 1, imagesPerSitting: 1 };
    const { instanceHours, sleep } = fleetOf(sleeping(), lonely)!;
    const { wakingMinutes, leavingMinutes } = assumptions;
    const seconds = 12 + 60 * (wakingMinutes.value + sleeping().idleMinutes + leavingMinutes.value);
    // With another one in the same minutes once in thousands of months.
    expect(instanceHours / (seconds / 3600)).toBeCloseTo(1, 2);
    expect(sleep!.waitSeconds / (60 * wakingMinutes.value)).toBeCloseTo(1, 2);
  });

  test('never runs for more hours than the most instances do, nor fewer than it paints where those can', () => {
    fc.assert(
      fc.property(workloads, fc.integer({ min: 1, max: 20 }), (workload, maxInstances) => {
        const fleet = fleetOf(sleeping(maxInstances), workload)!;
        expect(fleet.instanceHours).toBeLessThanOrEqual(maxInstances * hoursPerMonth + 1e-6);
        if (fleet.peakUtilization <= 1)
          expect(fleet.instanceHours).toBeGreaterThanOrEqual(fleet.paintHours - 1e-6);
      }),
    );
  });

  test('costs no less with more images', () => {
    fc.assert(
      fc.property(workloads, generations, (workload, other) => {
        const hours = [workload.generationsPerMonth, other]
          .sort((a, b) => a - b)
          .map(
            (generationsPerMonth) => fleetOf(sleeping(), { ...workload, generationsPerMonth })!.instanceHours,
          );
        expect(hours[0]).toBeLessThanOrEqual(hours[1]! + 1e-6);
      }),
    );
  });

  test('costs no more than one that is always on, and as much once it never sleeps', () => {
    fc.assert(
      fc.property(workloads, (workload) => {
        const asleep = shapedFleet(sleeping(), workload);
        const alwaysOn = shapedFleet({ ...sleeping(), minInstances: 1 }, workload);
        expect(asleep.instanceHours).toBeLessThanOrEqual(alwaysOn.instanceHours + 1e-6);
        expect(alwaysOn.instanceHours - asleep.instanceHours).toBeCloseTo(asleep.sleep!.asleepHours, 6);
      }),
    );
    const many = { ...usual, generationsPerMonth: 5_000_000 };
    const hours = [0, 1].map(
      (minInstances) => shapedFleet({ ...sleeping(), minInstances }, many).instanceHours,
    );
    expect(hours[0]).toBeCloseTo(hours[1]!, 6);
  });

  test('sleeps less the longer it is kept awake', () => {
    const asleep = [5, 15, 60].map(
      (idleMinutes) => sleepOf({ ...sleeping(), idleMinutes }, usual).asleepHours,
    );
    expect(asleep).toEqual([...asleep].sort((a, b) => b - a));
    expect(new Set(asleep).size).toBe(3);
    expect(sleepOf({ ...sleeping(), idleMinutes: 15 } as Endpoint, usual)).toEqual(
      sleepOf(sleeping(), usual),
    );
  });

  test('tells where more is asked for in working hours than can be painted, though not over a month', () => {
    const busy = { ...usual, generationsPerMonth: 200_000 };
    const fleet = fleetOf(sleeping(2), busy)!;
    expect(fleet.utilization).toBeLessThan(1);
    expect(fleet.peakUtilization).toBeGreaterThan(1);
  });

  test('has its waking and other hours in the bill, nothing of them fixed', () => {
    const bill = monthlyBill(sleepingDeployment(), usual);
    const model = bill.lines.filter(({ component }) => component === 'Model');
    expect(model.map(({ what, fixed }) => ({ what, fixed }))).toEqual([
      { what: 'ml.g6.xlarge, awake', fixed: false },
      { what: 'ml.g6.xlarge, waking', fixed: false },
    ]);
    expect(usdOf(bill, 'Model')).toBeCloseTo(bill.fleet!.instanceHours * 1.1267, 6);
    const busy = monthlyBill(sleepingDeployment(), { ...usual, generationsPerMonth: 150_000 });
    expect(usdOf(busy, 'Model', 'ml.g6.xlarge, by scaling')).toBeGreaterThan(0);
    expect(usdOf(busy, 'Model')).toBeCloseTo(busy.fleet!.instanceHours * 1.1267, 6);
  });
});

test('the traffic has each hour of a week and each image once', () => {
  const kinds = Object.values(trafficShape);
  expect(kinds.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 12);
  const counts = { work: 0, day: 0, night: 0 };
  for (let day = 0; day < 7; day += 1)
    for (let hour = 0; hour < 24; hour += 1) counts[kindOfHour(day, hour)] += 1;
  const { work, day, night } = trafficShape;
  expect(counts).toEqual({
    work: work.hoursPerWeek,
    day: day.hoursPerWeek,
    night: night.hoursPerWeek,
  });
  const loads = hourlyLoads({ ...usual, generationsPerMonth: 7000, outputs: 2, imagesPerSitting: 4 });
  const sum = (of: (load: (typeof loads)[number]) => number) =>
    loads.reduce((total, load) => total + load.hours * of(load), 0);
  expect(sum(() => 1)).toBeCloseTo(hoursPerMonth, 9);
  expect(sum(({ sittingsPerHour }) => sittingsPerHour)).toBeCloseTo(3500, 6);
  expect(sum(({ paintHours }) => paintHours)).toBeCloseTo((14_000 * 12) / 3600, 6);
});
