import { expect, test } from '@jest/globals';
import { monthlyBill } from '../../../bin/costs/model.ts';
import { breakEvenTable, utilizationTable, volumesTable } from '../../../bin/costs/volumes.ts';
import { bill, deploymentOf, sleepingDeployment, usdOf, usual } from './sample.ts';

/** The numbers in a table's cells, without $, % and commas. */
function rowsOf(table: string): number[][] {
  const lines = table.split('\n').slice(2);
  return lines.map((line) => {
    const cells = line.split('|').slice(1, -1);
    return cells.map((cell) => Number(cell.replace(/[$,%]/g, '')));
  });
}

test('at the break-even the images pay for exactly the whole bill', () => {
  for (const outputs of [1, 4]) {
    const rows = rowsOf(breakEvenTable(deploymentOf(), { ...usual, outputs, secondsPerMegapixel: 3 }));
    expect(rows.length).toBeGreaterThan(3);
    for (const [price, generationsPerMonth] of rows) {
      const workload = { outputs, secondsPerMegapixel: 3, generationsPerMonth: generationsPerMonth! };
      const earned = price! * outputs * generationsPerMonth!;
      expect(usdOf(bill({}, workload)) / earned).toBeCloseTo(1, 3);
    }
  }
});

test('a model that sleeps breaks even where the images first pay for the whole bill', () => {
  const rows = rowsOf(breakEvenTable(sleepingDeployment(), usual));
  expect(rows.length).toBeGreaterThan(3);
  for (const [price, generationsPerMonth] of rows) {
    const left = (generations: number) =>
      price! * generations -
      usdOf(monthlyBill(sleepingDeployment(), { ...usual, generationsPerMonth: generations }));
    expect(left(generationsPerMonth!)).toBeGreaterThanOrEqual(0);
    expect(left(generationsPerMonth! - 1)).toBeLessThan(0);
  }
  // It takes more than two instances can paint in working hours.
  const slow = { ...usual, secondsPerMegapixel: 40 };
  expect(breakEvenTable(sleepingDeployment(), slow)).toMatch(/\$0\.01 +\| +none do \|/);
});

test('a price that never pays for the bill has no break-even', () => {
  const slow = { ...usual, secondsPerMegapixel: 40 };
  expect(breakEvenTable(deploymentOf(), slow)).toMatch(/\$0\.01 +\| +none do \|/);
  const heavy = { ...usual, viewsPerImage: 2000 };
  expect(breakEvenTable(deploymentOf(), heavy)).toMatch(/\$0\.10 +\| +none do \|/);
});

test('an image costs ten times as much at a tenth of the utilization', () => {
  const rows = rowsOf(
    utilizationTable(deploymentOf(), { ...usual, instancePerHour: 3.6, secondsPerMegapixel: 10 }),
  );
  expect(rows.at(-1)).toEqual([100, 262_800, 10]);
  expect(rows.find(([share]) => share === 10)).toEqual([10, 26_280, 100]);
});

test('each volume is the bill of that volume', () => {
  for (const [generationsPerMonth, , , model, rest, together, month] of rowsOf(
    volumesTable(deploymentOf(), usual),
  )) {
    const usd = usdOf(bill({}, { generationsPerMonth: generationsPerMonth! }));
    expect(month! / usd).toBeCloseTo(1, 2);
    expect(together! / ((usd * 1000) / generationsPerMonth!)).toBeCloseTo(1, 1);
    expect((model! + rest!) / together!).toBeCloseTo(1, 1);
  }
});

test('a volume above the maximum of instances is marked as too much', () => {
  expect(volumesTable(deploymentOf(), { ...usual, secondsPerMegapixel: 60 })).toContain(
    'more than can be painted',
  );
});

test('without instances of its own a deployment has no such tables, and no utilization', () => {
  const none = deploymentOf({ inference: { kind: 'none' } });
  expect(breakEvenTable(none, usual)).toBe('No instance belongs to this deployment.');
  expect(utilizationTable(none, usual)).toBe('No instance belongs to this deployment.');
  expect(volumesTable(none, usual)).toMatch(/\| +1,000 \| +– \| +– \| +\$0 \|/);
});
