import { describe, expect, test } from '@jest/globals';
import { amount, dollars, markdownTable, percent } from '../../../bin/costs/tables.ts';
import { breakEvenTable, utilizationTable, volumesTable } from '../../../bin/costs/volumes.ts';
import { bill, deploymentOf, usdOf, usual } from './sample.ts';

/** The cells of a table below its heading, numbers without what stands beside them. */
function rowsOf(table: string): number[][] {
  const lines = table.split('\n').slice(2);
  return lines.map((line) => {
    const cells = line.split('|').slice(1, -1);
    return cells.map((cell) => Number(cell.replace(/[$,%]/g, '')));
  });
}

test('at the break-even the images pay for exactly everything', () => {
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

test('a price that no number of images pays for is said to have none', () => {
  const slow = { ...usual, secondsPerMegapixel: 40 };
  expect(breakEvenTable(deploymentOf(), slow)).toMatch(/\$0\.01 +\| +none do \|/);
  const heavy = { ...usual, viewsPerImage: 2000 };
  expect(breakEvenTable(deploymentOf(), heavy)).toMatch(/\$0\.10 +\| +none do \|/);
});

test('the GPU costs the price of the hour at full use, and ten times that at a tenth', () => {
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

test('what cannot be painted is said to be too much', () => {
  expect(volumesTable(deploymentOf(), { ...usual, secondsPerMegapixel: 60 })).toContain(
    'more than can be painted',
  );
});

test('without an instance of its own a deployment has no such tables, and its volumes no utilization', () => {
  const none = deploymentOf({ inference: { kind: 'none' } });
  expect(breakEvenTable(none, usual)).toBe('No instance belongs to this deployment.');
  expect(utilizationTable(none, usual)).toBe('No instance belongs to this deployment.');
  expect(volumesTable(none, usual)).toMatch(/\| +1,000 \| +– \| +– \| +\$0 \|/);
});

describe('numbers', () => {
  test('have as many digits as tell something', () => {
    const usd = [0, 0.000_01, 0.001_23, 0.054, 5, 99.99, 1234.5];
    expect(usd.map(dollars)).toEqual(['$0', '< $0.0001', '$0.0012', '$0.05', '$5.00', '$99.99', '$1,235']);
    expect([0.006_789, 3.4567, 12_345.6].map(amount)).toEqual(['0.00679', '3.46', '12,346']);
    expect([0.000_123, 0.0456, 0.2284, 1].map(percent)).toEqual(['0.012%', '4.6%', '22.8%', '100%']);
  });

  test('stand to the right where their heading says so', () => {
    const table = markdownTable(
      ['name', 'usd:'],
      [
        ['a', '1'],
        ['bcdef', '23'],
      ],
    );
    expect(table.split('\n')).toEqual([
      '| name  | usd |',
      '| ----- | --: |',
      '| a     |   1 |',
      '| bcdef |  23 |',
    ]);
  });
});
