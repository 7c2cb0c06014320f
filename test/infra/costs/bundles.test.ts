import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from '@jest/globals';
import type { Bundle } from '../../../bin/costs/bundles.ts';
import { documented, runCosts } from './support.ts';

const functionsFolder = fileURLToPath(new URL('../../../functions', import.meta.url));
let bundles: Bundle[];
let table: Bundle[];

beforeAll(async () => {
  const { code, stdout } = await runCosts(['bundles', '--json']);
  expect(code).toBe(0);
  ({ bundles } = JSON.parse(stdout));
  table = rowsOf(documented('bundles'));
}, 300_000);

function rowsOf(text: string): Bundle[] {
  return text
    .split('\n')
    .filter((line) => /^\| [a-z-]+ +\| +[\d,]+ \|/.test(line))
    .map((line) => {
      const [functionName, ...numbers] = line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim());
      const [bytes, gzipBytes] = numbers.map((number) => Number(number.replaceAll(',', '')));
      return { functionName: functionName!, bytes: bytes!, gzipBytes: gzipBytes! };
    });
}

test('the table in docs/costs.md has each function, and none that is gone', () => {
  const files = readdirSync(functionsFolder).map((file) => file.replace(/\.ts$/, ''));
  expect(table.map(({ functionName }) => functionName)).toEqual(files);
  expect(bundles.map(({ functionName }) => functionName)).toEqual(files);
});

test('create-generation has at most 600,000 bytes', () => {
  const bundle = bundles.find(({ functionName }) => functionName === 'create-generation');
  expect(bundle!.bytes).toBeGreaterThan(100_000);
  expect(bundle!.bytes).toBeLessThanOrEqual(600_000);
});

test('each size in the table is within 5% of a fresh build (else run "npm run costs -- bundles --write")', () => {
  const near = (told: number, built: number) => Math.abs(told - built) <= 0.05 * built;
  const wrong = bundles.filter(({ functionName, bytes, gzipBytes }) => {
    const told = table.find((row) => row.functionName === functionName);
    return told === undefined || !near(told.bytes, bytes) || !near(told.gzipBytes, gzipBytes);
  });
  expect(wrong).toEqual([]);
});
