import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { playSeeds, type SeedReport } from '../../faults/worker-pool.ts';
import { plantedBugs } from '../../faults/all-planted-bugs.ts';

/** In processes of their own: a simulation takes its process's clock and chance. */
async function play(
  from: number,
  count: number,
  bug: string | null = null,
): Promise<Map<number, SeedReport>> {
  const reports = new Map<number, SeedReport>();
  await playSeeds({ from, count, workers: 1, bug, onSeed: (report) => reports.set(report.seed, report) });
  return reports;
}

test('a seed plays the same history in any process, whatever was played before it', async () => {
  const several = await play(1, 4);
  const alone = await play(4, 1);
  expect(alone.get(4)!.fingerprint).toBe(several.get(4)!.fingerprint);
  expect(new Set([...several.values()].map(({ fingerprint }) => fingerprint)).size).toBe(4);
}, 120_000);

test('a planted bug breaks an invariant, and the play ends there', async () => {
  const reports = await play(1, 20, 'answer-before-settle');
  const last = [...reports.values()].at(-1)!;
  expect(last.violations[0]).toMatch(/200 for .*, which is/);
  expect(reports.size).toBe(last.seed);
}, 120_000);

test('each planted bug is in the table of what was shown', () => {
  const page = readFileSync('docs/reliability.md', 'utf8');
  const rows = [...page.matchAll(/^\| `([a-z0-9-]+)` +\|/gm)].map(([, name]) => name);
  expect(rows).toEqual(plantedBugs.map(({ name }) => name));
});
