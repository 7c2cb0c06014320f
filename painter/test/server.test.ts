import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { startPainter } from '../src/server.ts';
import { requestOf } from './support/requests.ts';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

test('a process of its own says where it listens, and ends when asked', async () => {
  const child = spawn(process.execPath, [main, '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const url = /^The painter listens at (http:\S+)$/m.exec(line.toString())![1];
  expect((await fetch(`${url}/ping`)).status).toBe(200);
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test('it closes while connections are idle and at work', async () => {
  const painter = await startPainter({ workers: 1 });
  const idle = connect(Number(new URL(painter.url).port), '127.0.0.1');
  await once(idle, 'connect');
  const body = JSON.stringify(requestOf({ neverFinishes: true }));
  const working = await fetch(`${painter.url}/invocations`, { method: 'POST', body });

  await painter.close();
  await expect(working.text()).rejects.toThrow();
  idle.destroy();
});
