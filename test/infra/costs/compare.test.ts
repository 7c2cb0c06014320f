import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { compare, firstVolume, type Comparison } from '../../../bin/costs/compare.ts';
import { choiceText, comparisonTable, peersTable, pictures } from '../../../bin/costs/comparison-report.ts';
import { shapedFleet } from '../../../bin/costs/fleet.ts';
import { sleepOf } from '../../../bin/costs/sleep.ts';
import type { Workload } from '../../../bin/costs/workload.ts';
import { bill, deploymentOf, endpoint, sleepingDeployment, usdOf, usual } from './sample.ts';

const comparison = compare(deploymentOf(), usual)!;

/** The model's bill at some volume with either choice, and as many instances as it takes. */
function usdAt(images: number, workload: Workload = usual) {
  const some = { ...workload, generationsPerMonth: images / workload.outputs };
  const usd = (minInstances: number) => {
    const fleet = shapedFleet({ ...endpoint(), minInstances, maxInstances: 1e6 }, some);
    return fleet.instanceHours * fleet.usdPerHour;
  };
  return { alwaysOn: usd(1), asleep: usd(0) };
}

describe('the comparison', () => {
  test('has for each volume what either choice costs, and what hosted services list', () => {
    expect(comparison.volumes.map(({ imagesPerMonth }) => imagesPerMonth)).toEqual([1e3, 1e4, 1e5, 1e6]);
    for (const { imagesPerMonth, alwaysOn, asleepWhenIdle, peersUsd, allElseUsd } of comparison.volumes) {
      const usd = usdAt(imagesPerMonth);
      expect(alwaysOn.usd).toBeCloseTo(usd.alwaysOn, 6);
      expect(asleepWhenIdle.usd).toBeCloseTo(usd.asleep, 6);
      expect(peersUsd!.cheapest).toBeCloseTo(0.0006 * imagesPerMonth, 6);
      expect(peersUsd!.dearest).toBeCloseTo(0.035 * imagesPerMonth, 6);
      const whole = bill({}, { generationsPerMonth: imagesPerMonth });
      expect(allElseUsd).toBeCloseTo(usdOf(whole) - usdOf(whole, 'Model'), 6);
    }
  });

  test('counts images, however many a generation has', () => {
    const [one, four] = [1, 4].map((outputs) => compare(deploymentOf(), { ...usual, outputs })!);
    for (const [index, { alwaysOn, asleepWhenIdle }] of one!.volumes.entries()) {
      expect(four!.volumes[index]!.alwaysOn.usd).toBeCloseTo(alwaysOn.usd, 6);
      expect(four!.volumes[index]!.asleepWhenIdle.usd).toBeCloseTo(asleepWhenIdle.usd, 6);
    }
  });

  test('runs as many instances as working hours need, whatever the most are', () => {
    const most = compare(deploymentOf({ inference: { ...endpoint(), maxInstances: 1 } }), usual)!;
    expect(most.volumes.at(-1)).toEqual(comparison.volumes.at(-1));
    // 70% of a million images of 12 s in 45 of 168 hours, at 70% of the instances' time.
    const busiest = (1e6 * 0.7 * 12) / 3600 / ((45 / 168) * 730) / 0.7;
    expect(most.volumes.at(-1)!.mostInstances).toBe(Math.ceil(busiest));
    expect(most.volumes[0]!.mostInstances).toBe(1);
  });

  test('keeps as many always on as the configuration does, and is the same for one that sleeps', () => {
    const three = compare(
      deploymentOf({ inference: { ...endpoint(), minInstances: 3, maxInstances: 4 } }),
      usual,
    )!;
    expect(three.volumes[0]!.alwaysOn.instanceHours).toBeCloseTo(3 * 730, 6);
    expect(three.volumes[0]!.asleepWhenIdle).toEqual(comparison.volumes[0]!.asleepWhenIdle);
    const asleep = compare(sleepingDeployment(), usual)!;
    expect(asleep.volumes.map(({ alwaysOn }) => alwaysOn)).toEqual(
      comparison.volumes.map(({ alwaysOn }) => alwaysOn),
    );
  });

  test('has none without an instance, and says so', () => {
    const none = deploymentOf({ inference: { kind: 'none' } });
    expect(compare(none, usual)).toBeNull();
    expect(choiceText(null, usual)).toContain('No instance belongs to this deployment');
    expect(pictures({ kind: 'none' }, usual, null)).toContain('No instance belongs to this deployment');
  });
});

describe('where choices change', () => {
  test('sleeping saves half up to one volume, and less than a tenth from another', () => {
    for (const imagesPerSitting of [1, 5, 20]) {
      const workload = { ...usual, imagesPerSitting };
      const { savesHalfUpToImages: half, savesLittleFromImages: little } = compare(deploymentOf(), workload)!;
      const saved = (images: number) => 1 - usdAt(images, workload).asleep / usdAt(images, workload).alwaysOn;
      expect(saved(half!)).toBeGreaterThanOrEqual(0.5);
      expect(saved(half! + 1)).toBeLessThan(0.5);
      expect(saved(little!)).toBeLessThan(0.1);
      expect(saved(little! - 1)).toBeGreaterThanOrEqual(0.1);
      const told = comparison.sittings.find((sitting) => sitting.imagesPerSitting === imagesPerSitting)!;
      expect(told).toMatchObject({ savesHalfUpToImages: half, savesLittleFromImages: little });
    }
  });

  test("one's own model is cheaper than a hosted one from the volume that is told on, or at none", () => {
    const perImage = (images: number) => usdAt(images).asleep / images;
    const from = comparison.peers.map(({ cheaperFromImages, usdPerImage }) => {
      if (cheaperFromImages === null) expect(perImage(1e9)).toBeGreaterThanOrEqual(usdPerImage);
      else {
        expect(perImage(cheaperFromImages)).toBeLessThan(usdPerImage);
        expect(perImage(cheaperFromImages - 1)).toBeGreaterThanOrEqual(usdPerImage);
      }
      return cheaperFromImages;
    });
    expect(new Set(from.map((volume) => volume === null)).size).toBe(2);
  });

  test('a model as quick as told costs what the hosted one does, once it is busy', () => {
    for (const { atMostSeconds, usdPerImage } of comparison.peers) {
      const workload = { ...usual, secondsPerMegapixel: atMostSeconds };
      expect(usdAt(1e9, workload).asleep / 1e9 / usdPerImage).toBeCloseTo(1, 4);
    }
  });

  test('other sizes of images are not compared with prices of one megapixel', () => {
    const large = { ...usual, megapixels: 2 };
    const of = compare(deploymentOf(), large)!;
    expect(of.peers).toEqual([]);
    expect(comparisonTable(of)).toMatch(/\| +– \|/);
    expect(peersTable(of)).toContain('other sizes are not compared');
    expect(choiceText(of, large)).toContain('other sizes are not compared');
  });

  test('the first volume for which something holds is found, or none', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000_000 }), (first) => {
        expect(firstVolume((images) => images >= first)).toBe(first);
      }),
    );
    expect(firstVolume(() => false)).toBeNull();
  });

  test('sentences round away from what they promise', () => {
    const text = choiceText(
      { ...comparison, savesHalfUpToImages: 11_999, savesLittleFromImages: 110_001 },
      usual,
    );
    expect(text).toContain('Up to 11,000 images');
    expect(text).toContain('From 120,000 images');
    const never: Comparison = { ...comparison, savesHalfUpToImages: null, savesLittleFromImages: null };
    expect(choiceText(never, usual)).toMatch(/At no volume.*\n.*At every volume/);
  });
});

describe('the pictures', () => {
  const text = (workload: Workload) => pictures(endpoint(), workload, comparison);

  test('have a row for each day, whose hours add up to those that are paid', () => {
    const rows = [
      ...text(usual).matchAll(/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) {2}([·░▒▓█]{48}) +([\d.]+) h$/gm),
    ];
    expect(rows).toHaveLength(7);
    const perWeek = rows.reduce((sum, [, , hours]) => sum + Number(hours), 0);
    const awake = 730 - sleepOf(endpoint(), usual).asleepHours;
    expect((perWeek * 730) / 168 / awake).toBeCloseTo(1, 2);
    const mostly = (row: number, from: number, to: number) => new Set(rows[row]![1]!.slice(2 * from, 2 * to));
    expect(mostly(0, 9, 18)).toEqual(new Set('█'));
    expect(mostly(5, 9, 18)).toEqual(new Set('▓'));
    expect(mostly(6, 0, 8)).toEqual(new Set('░'));
  });

  test('have a bar for each volume, as long as a month, in which it sleeps as long as is told', () => {
    const bars = [...text(usual).matchAll(/^ *([\d,]+) {2}([█▒▓░·]+)$/gm)];
    expect(bars.map(([, volume]) => volume)).toEqual(['1,000', '10,000', '100,000', '1,000,000']);
    for (const [index, [, , bar]] of bars.entries()) {
      expect(bar).toHaveLength(73);
      const { sleep } = comparison.volumes[index]!.asleepWhenIdle;
      const drawn = [...bar!].filter((mark) => mark === '·').length * 10;
      expect(Math.abs(drawn - sleep.asleepHours)).toBeLessThanOrEqual(10);
    }
  });

  test('are of the volume that is asked for', () => {
    expect(text({ ...usual, generationsPerMonth: 1 })).toContain('A week with 1 images a month');
    expect(text({ ...usual, generationsPerMonth: 1 })).toMatch(/^Mon {2}·{48}/m);
  });
});
