import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { fleetOf } from '../../../bin/costs/fleet.ts';
import { monthlyBill, type Bill } from '../../../bin/costs/model.ts';
import { prices } from '../../../bin/costs/prices.ts';
import { assumptions, gigabyte, type Workload } from '../../../bin/costs/workload.ts';
import { readConfiguration } from '../../../lib/configuration.ts';
import { bill, inference, sleepingDeployment, usdOf, usual } from './sample.ts';

const generations = fc.integer({ min: 1, max: 2_000_000 });

describe('the bill', () => {
  test('does not fall when more is generated, and its fixed lines stay', () => {
    fc.assert(
      fc.property(generations, generations, (one, other) => {
        const [less, more] = [Math.min(one, other), Math.max(one, other)].map((generationsPerMonth) =>
          bill({}, { generationsPerMonth }),
        );
        expect(usdOf(less!)).toBeLessThanOrEqual(usdOf(more!) + 1e-9);
        const fixed = ({ lines }: Bill) => lines.filter((line) => line.fixed);
        expect(fixed(less!)).toEqual(fixed(more!));
      }),
    );
  });

  test('has a known price in each line', () => {
    for (const { quantity, usd, unit, component } of bill({}, {}).lines) {
      if (component === 'Model') continue;
      const fits = Object.values(prices).some(
        (price) => price.unit === unit && Math.abs((quantity * price.usd) / price.per - usd) < 1e-9,
      );
      expect({ unit, fits }).toEqual({ unit, fits: true });
    }
  });

  test('uses every known price', () => {
    const units = new Set(bill().lines.map(({ unit }) => unit));
    expect(Object.values(prices).filter(({ unit }) => !units.has(unit))).toEqual([]);
  });

  test('depends on the retention of images and records', () => {
    const [short, long] = [bill({ retentionDays: 30 }), bill({ retentionDays: 90 })];
    for (const [component, what] of [
      ['Images', 'stored'],
      ['Table', 'records'],
      ['Table', 'backups'],
      ['Table', 'point-in-time recovery'],
    ] as const) {
      expect(usdOf(long, component, what)).toBeCloseTo(3 * usdOf(short, component, what), 9);
    }
    expect(usdOf(long, 'Images', 'to the internet')).toBe(usdOf(short, 'Images', 'to the internet'));
  });

  test('depends on the retention of logs', () => {
    const [week, year] = [bill({ logRetentionDays: 7 }), bill({ logRetentionDays: 365 })];
    expect(usdOf(year, 'Logs', 'stored')).toBeGreaterThan(50 * usdOf(week, 'Logs', 'stored'));
    expect(usdOf(year, 'Logs', 'written')).toBe(usdOf(week, 'Logs', 'written'));
  });

  test.each([
    ['waiting for the model', 'memoryMb'],
    ['async, accepting', 'memoryMb'],
    ['async, workers that wait', 'workerMemoryMb'],
  ])('depends on the memory of a function that waits: %s', (what, memory) => {
    const double = usdOf(bill({}, {}, { [memory]: 512 }), 'Functions', what);
    expect(double).toBeCloseTo(2 * usdOf(bill(), 'Functions', what), 12);
  });

  test('has a worker for each asynchronous generation, which waits and then paints', () => {
    const workload = { generationsPerMonth: 1000, asyncShare: 0.25, secondsPerMegapixel: 10 };
    const usd = (what: string) => usdOf(bill({}, workload), 'Functions', what);
    const perSecond = (256 / 1024) * prices.lambdaDuration.usd;
    expect(usd('waiting for the model')).toBeCloseTo(750 * 10.3 * perSecond, 12);
    expect(usd('async, accepting')).toBeCloseTo(250 * 0.3 * perSecond, 12);
    const waits = assumptions.asyncWaitSeconds.value;
    expect(usd('async, workers that wait')).toBeCloseTo(250 * (10.3 + waits) * perSecond, 12);
    expect(usd('async, workers')).toBeCloseTo((250 * 0.2) / 1e6, 12);
    expect(usd('requests')).toBeCloseTo((1000 * 0.2) / 1e6, 12);
  });

  test('has no worker where nobody asks for one, and the same table and logs as before', () => {
    const { lines } = bill({}, { asyncShare: 0 });
    const more = bill({}, { asyncShare: 1 }).lines.filter(
      ({ component, what }) => !lines.some((line) => line.component === component && line.what === what),
    );
    expect(more.map(({ component, what }) => `${component}: ${what}`)).toEqual([
      'Functions: async, accepting',
      'Functions: async, workers that wait',
      'Functions: async, workers',
      'Table: reads of workers',
      'Logs: written by workers',
    ]);
  });

  test('has a worker wait longer where the model may sleep, for as long as waking takes it', () => {
    const seconds = ({ lines }: Bill) =>
      lines.find(({ what }) => what === 'async, workers that wait')!.quantity / (1000 * (256 / 1024));
    const asleep = monthlyBill(sleepingDeployment(), usual);
    expect(seconds(asleep) - seconds(bill())).toBeCloseTo(asleep.fleet!.sleep!.waitSeconds, 6);
    expect(asleep.fleet!.sleep!.waitSeconds).toBeGreaterThan(10);
  });

  test('charges each byte of each view of each image', () => {
    const workload = { generationsPerMonth: 1000, outputs: 4, imageBytes: 2 ** 20, viewsPerImage: 3 };
    const gb = (1000 * 4 * 2 ** 20 * 3) / gigabyte;
    expect(usdOf(bill({}, workload), 'Images', 'to the internet')).toBeCloseTo(gb * prices.internet.usd, 9);
  });

  test('has a trace of each request up to one a second, and of few beyond', () => {
    const traces = (generationsPerMonth: number) =>
      usdOf(bill({}, { generationsPerMonth }), 'Monitoring', 'traces');
    expect(traces(2_000_000)).toBeCloseTo(10, 9);
    expect(traces(4_628_000)).toBeCloseTo(5e-6 * (2_628_000 + 100_000), 9);
  });
});

describe('the model', () => {
  const fleet = (options: object, workload: Partial<Workload> = {}) =>
    bill({ inference: { ...inference, ...options } }, workload).fleet!;

  test('costs nothing without instances of the deployment', () => {
    for (const none of [{ kind: 'none' }, { kind: 'existing', endpointName: 'elsewhere' }]) {
      expect(bill({ inference: none }).fleet).toBeNull();
      expect(usdOf(bill({ inference: none }), 'Model')).toBe(0);
    }
  });

  test('costs at least its minimum of instances, used or not', () => {
    const idle = bill({ inference: { ...inference, minInstances: 2 } }, { generationsPerMonth: 1 });
    expect(usdOf(idle, 'Model')).toBeCloseTo(2 * 730 * 1.1267, 6);
  });

  test('costs at most its maximum of instances, and its utilization says when they are too few', () => {
    const { instanceHours, utilization } = fleet({ maxInstances: 3 }, { generationsPerMonth: 10_000_000 });
    expect(instanceHours).toBe(3 * 730);
    expect(utilization).toBeGreaterThan(1);
  });

  test('is busy for the seconds of each megapixel of each image', () => {
    const work = { generationsPerMonth: 600, secondsPerMegapixel: 6, megapixels: 2, outputs: 3 };
    expect(fleet({}, work).paintHours).toBeCloseTo(6, 9);
  });

  test('stays at the minimum of instances while they are not busy, and always has enough', () => {
    fc.assert(
      fc.property(generations, fc.integer({ min: 1, max: 5 }), (generationsPerMonth, minInstances) => {
        const { paintHours, instanceHours } = fleet(
          { minInstances, maxInstances: 100 },
          { generationsPerMonth },
        );
        expect(instanceHours).toBeGreaterThanOrEqual(minInstances * 730);
        expect(instanceHours).toBeGreaterThanOrEqual(paintHours);
        if (paintHours <= 0.7 * minInstances * 730) expect(instanceHours).toBe(minInstances * 730);
      }),
    );
  });

  test('with an instance type of unknown price costs what the operator says, and is refused without that', () => {
    const instanceType = 'ml.p5.4xlarge';
    expect(() => fleet({ instanceType })).toThrow('The price of ml.p5.4xlarge is not known here');
    const { inference: known } = readConfiguration({ inference: { ...inference, instanceType } }, 'A test');
    expect(fleetOf(known, { ...usual, instancePerHour: 60 })?.usdPerHour).toBe(60);
  });
});
