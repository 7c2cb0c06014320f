import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { takeLock } from '../../../local/dashboard/build-lock.ts';
import { until } from '../../support/until.ts';

const lockModule = new URL('../../../local/dashboard/build-lock.ts', import.meta.url).href;

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'dashboard-lock-'))));
afterEach(() => rmSync(folder, { recursive: true }));

function diary(): string {
  const path = join(folder, 'diary');
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

/** Waits for the lock in a process of its own, and writes down when it came and went, unless it is killed before. */
function holder(holdMs: number) {
  const script = `
    import { appendFileSync } from 'node:fs';
    import { takeLock } from '${lockModule}';
    const release = await takeLock('${join(folder, 'lock')}', new AbortController().signal);
    appendFileSync('${join(folder, 'diary')}', '(');
    await new Promise((resolve) => setTimeout(resolve, ${holdMs}));
    appendFileSync('${join(folder, 'diary')}', ')');
    release();`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: 'ignore' });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { ended, kill: () => child.kill('SIGKILL') };
}

test('a lock has one owner at a time, and goes on to the next', async () => {
  const holders = Array.from({ length: 6 }, () => holder(50));
  expect(await Promise.all(holders.map(({ ended }) => ended))).toEqual(Array(6).fill(0));
  expect(diary()).toBe('()'.repeat(6));
});

test('a lock whose owner was killed goes to one of those who wait', async () => {
  const killed = holder(60_000);
  await until('the first has it', () => diary() === '(');
  const waiting = [1, 2, 3].map(() => holder(50));
  killed.kill();
  expect(await Promise.all(waiting.map(({ ended }) => ended))).toEqual([0, 0, 0]);
  expect(diary()).toBe('(()()()');
});

test('one process holds a lock once, and stops waiting when it is stopped', async () => {
  const stopping = new AbortController();
  const release = await takeLock(join(folder, 'lock'), new AbortController().signal);
  const second = takeLock(join(folder, 'lock'), stopping.signal);
  stopping.abort(new Error('stopped'));
  await expect(second).rejects.toMatchObject({ name: 'AbortError' });
  release();
  (await takeLock(join(folder, 'lock'), new AbortController().signal))();
});
