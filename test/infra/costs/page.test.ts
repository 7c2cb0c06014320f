import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const program = 'bin/costs.ts';
const costs = (...args: string[]) => execFileSync(process.execPath, [program, ...args], { encoding: 'utf8' });

test('docs/costs.md has the tables that "npm run costs" prints (else run "npm run costs -- --write")', () => {
  const page = readFileSync('docs/costs.md', 'utf8');
  const parts = [...page.matchAll(/<!-- costs: (.+?) -->\n\n(.*?)\n\n<!-- \/costs -->/gs)];
  const text = parts.map(([, title, table]) => `## ${title}\n\n${table}`).join('\n\n');
  expect(`${text}\n`).toBe(costs());
  expect(costs('--compare')).toBe(`## ${parts.at(-1)!.slice(1).join('\n\n')}\n`);
});

test('docs/security.md has the table of "npm run costs -- --abuse"', () => {
  const [, title, table] = /<!-- costs: (.+?) -->\n\n(.*?)\n\n<!-- \/costs -->/s.exec(
    readFileSync('docs/security.md', 'utf8'),
  )!;
  expect(costs('--abuse')).toBe(`## ${title}\n\n${table}\n`);
});

test("npm run costs computes an operator's configuration, and prints it as JSON", () => {
  const folder = mkdtempSync(join(tmpdir(), 'costs-'));
  const path = join(folder, 'configuration.json');
  writeFileSync(path, JSON.stringify({ inference: { kind: 'none' }, retentionDays: 30 }));
  const options = ['--config', path, '--generations-per-month', '2000', '--json'];
  const answer = JSON.parse(costs(...options));
  expect(answer).toMatchObject({
    fleet: null,
    workload: { generationsPerMonth: 2000 },
    comparison: expect.any(Array),
  });
  const sum = answer.lines.reduce((total: number, { usd }: { usd: number }) => total + usd, 0);
  expect(answer.usdPerMonth).toBeCloseTo(sum, 9);
  expect(answer.usdPerThousand).toBeCloseTo(sum / 2, 9);
  expect(costs(...options.slice(0, 2))).toMatch(/\| +1,000 \| +– \|/);
  rmSync(folder, { recursive: true });
});

test.each([
  [['--async-share', '1.5'], 2, 'from 0 to 1'],
  [['--write', '--compare'], 2, '--write takes no other options'],
  [['--outputs', '5'], 2, '--outputs must be a whole number from 1 to 4'],
  [['--seconds', '50', '--outputs', '2'], 1, 'would miss its deadline of 60'],
  [['--config', 'nowhere.json'], 1, 'nowhere.json'],
])('npm run costs with %j ends with exit code %i and says why: %s', (args, code, sentence) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: code, stdout: '' });
  expect(stderr).toMatch(/^error: [^\n]+\n$/);
  expect(stderr).toContain(sentence);
});
