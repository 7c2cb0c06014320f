import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ComparedVolume } from '../../../bin/costs/compare.ts';
import { fillDocument } from '../../../bin/costs/document.ts';
import { peers } from '../../../bin/costs/peers.ts';
import { prices } from '../../../bin/costs/prices.ts';
import { inference } from './sample.ts';
import { documented, runCosts } from './support.ts';

const partNames = [
  'basis',
  'components',
  'lines',
  'volumes',
  'utilization',
  'break-even',
  'traffic',
  'comparison',
  'choice',
  'sittings',
  'peers',
  'pictures',
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

test('each price of a hosted service has its date and its page in docs/costs.md', () => {
  for (const { service, model, usdPerImage, listed, source } of peers) {
    const line = documented('peers')
      .split('\n')
      .find((row) => row.startsWith(`| ${service} `));
    for (const part of [model, `$${usdPerImage} `, listed, `<${source}>`]) expect(line).toContain(part);
    expect(listed).toMatch(/^2026-\d\d(-\d\d)?( or later)?$/);
  }
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

  test('shows the bill of a model that sleeps', async () => {
    const path = config({ inference: { ...inference, minInstances: 0, idleMinutes: 60 } });
    const { code, stdout } = await runCosts(['--config', path]);
    expect(code).toBe(0);
    expect(stdout).toContain('0 to 2 × ml.g6.xlarge, asleep after 60 minutes without a request');
    for (const line of ['ml.g6.xlarge, awake', 'ml.g6.xlarge, waking']) expect(stdout).toContain(line);
    expect(stdout).not.toContain('ml.g6.xlarge, always on');
  }, 120_000);

  test('compares without all else, for people and for programs', async () => {
    const { stdout } = await runCosts(['--compare']);
    expect(stdout.match(/^## .+/gm)).toEqual([
      '## When images are asked for',
      '## Always on, asleep when idle, or hosted elsewhere',
      '## Which choice is right',
      '## The same with shorter or longer sittings',
      '## What hosted services list',
      "## The model's hours",
    ]);
    expect(printed).toContain(stdout.trim());
    const { comparison, ...rest } = JSON.parse(
      (await runCosts(['--compare', '--json', '--images-per-sitting', '2'])).stdout,
    );
    expect(Object.keys(rest)).toEqual(['workload']);
    expect(rest.workload.imagesPerSitting).toBe(2);
    const volumes = comparison.volumes.map((volume: ComparedVolume) => volume.imagesPerMonth);
    expect(volumes).toEqual([1000, 10_000, 100_000, 1_000_000]);
  }, 120_000);

  test.each([
    [['--async-share', '1.5'], 2, 'from 0 to 1'],
    [['--write', '--compare'], 2, '--write takes no other options'],
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
