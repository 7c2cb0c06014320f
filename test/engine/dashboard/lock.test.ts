import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const lockModule = new URL('../../../local/dashboard/build-lock.ts', import.meta.url).href;

/** Takes the lock at a given moment in a process of its own, and writes down when it came and went. */
function holder(folder: string, atMs: number): Promise<number | null> {
  const script = `
    import { appendFileSync } from 'node:fs';
    import { takeLock } from '${lockModule}';
    while (Date.now() < ${atMs});
    const release = await takeLock('${join(folder, 'lock')}', 60_000, new AbortController().signal);
    appendFileSync('${join(folder, 'diary')}', '(');
    await new Promise((resolve) => setTimeout(resolve, 50));
    appendFileSync('${join(folder, 'diary')}', ')');
    release();`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: 'ignore' });
  return new Promise((resolve) => child.once('close', resolve));
}

test('a lock whose owner died is taken over by one process at a time, however many find it', async () => {
  const diaries: string[] = [];
  for (let round = 0; round < 10; round++) {
    const folder = mkdtempSync(join(tmpdir(), 'dashboard-lock-'));
    // No process has so large an id.
    writeFileSync(join(folder, 'lock'), '99999999');
    const atMs = Date.now() + 500;
    expect(await Promise.all([1, 2, 3].map(() => holder(folder, atMs)))).toEqual([0, 0, 0]);
    diaries.push(readFileSync(join(folder, 'diary'), 'utf8'));
    rmSync(folder, { recursive: true });
  }
  expect(diaries).toEqual(Array(10).fill('()()()'));
});
