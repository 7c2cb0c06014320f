import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fillDocument } from '../../../bin/costs/document.ts';
import { prices } from '../../../bin/costs/prices.ts';
import { documented, runCosts } from './support.ts';

const partNames = [
  'basis',
  'components',
  'lines',
  'volumes',
  'utilization',
  'break-even',
  'counted',
  'assumptions',
  'prices',
];

let printed: string;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'costs-'));
  const { code, stdout, stderr } = await runCosts([]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  printed = stdout;
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true }));

describe('docs/costs.md', () => {
  test.each(partNames)('has what the command prints: %s (else run "npm run costs -- --write")', (name) => {
    const part = documented(name);
    expect(part.length).toBeGreaterThan(100);
    expect(printed.includes(`\n\n${part}\n`)).toBe(true);
  });

  test('has everything that the command prints', () => {
    expect(printed.match(/^## /gm)).toHaveLength(partNames.length);
  });

  test('says of each price whether it was confirmed', () => {
    for (const { service, confirmed } of Object.values(prices)) {
      const line = documented('prices')
        .split('\n')
        .find((row) => row.startsWith(`| ${service} `));
      expect({ service, told: line?.includes(confirmed ? '| yes ' : '| **no** ') }).toEqual({
        service,
        told: true,
      });
    }
  });
});

test('a document without a place for a part is not written', () => {
  expect(() => fillDocument('# Costs\n', { lines: 'x' })).toThrow('no place for lines');
  expect(fillDocument('a\n<!-- costs: lines -->\nold\n<!-- /costs -->\nb\n', { lines: 'new' })).toBe(
    'a\n<!-- costs: lines -->\n\nnew\n\n<!-- /costs -->\nb\n',
  );
});

describe('npm run costs', () => {
  const config = (value: unknown) => {
    const path = join(folder, 'configuration.json');
    writeFileSync(path, JSON.stringify(value));
    return path;
  };

  test("computes the costs of an operator's configuration, and prints them as JSON", async () => {
    const path = config({ inference: { kind: 'none' }, retentionDays: 30, logRetentionDays: 7 });
    const { code, stdout } = await runCosts(['--config', path, '--generations-per-month', '2000', '--json']);
    const answer = JSON.parse(stdout);
    expect(code).toBe(0);
    expect(answer).toMatchObject({ fleet: null, workload: { generationsPerMonth: 2000 } });
    const sum = answer.lines.reduce((total: number, { usd }: { usd: number }) => total + usd, 0);
    expect(answer.usdPerMonth).toBeCloseTo(sum, 9);
    expect(answer.usdPerThousand).toBeCloseTo(sum / 2, 9);
  }, 120_000);

  test.each([
    [['--outputs', '5'], 2, '--outputs must be a whole number from 1 to 4'],
    [['--seconds', '50', '--outputs', '2'], 1, 'would miss its deadline of 60'],
    [['--write', '--json'], 2, '--write takes no other options'],
  ])(
    '%j ends with exit code %i and says why',
    async (args, expected, sentence) => {
      const { code, stdout, stderr } = await runCosts(args);
      expect({ code, stdout }).toEqual({ code: expected, stdout: '' });
      expect(stderr).toMatch(/^error: [^\n]+\n$/);
      expect(stderr).toContain(sentence);
    },
    120_000,
  );
});
