import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { startPainter } from '../src/server.ts';
import { paintFile, small } from './support/painting.ts';
import { requestOf } from './support/requests.ts';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

test('a process of its own says where it listens, paints the same bytes as any other, and ends when asked', async () => {
  const uploads: Buffer[] = [];
  const store = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      uploads.push(Buffer.concat(chunks));
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(store, 'listening');
  const putUrl = `http://127.0.0.1:${(store.address() as AddressInfo).port}/image`;
  const child = spawn(process.execPath, [main, '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const url = /^The painter listens at (http:\S+)$/m.exec(line.toString())![1];

  const { style: _style, identityId: _id, ...picture } = small;
  const body = JSON.stringify(requestOf({}, { ...picture, outputs: [{ putUrl }] }));
  const answer = await (await fetch(`${url}/invocations`, { method: 'POST', body })).text();
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number | null];
  store.closeAllConnections();
  store.close();

  const expected = await paintFile({ identityId: 'idn_a', style: '' });
  const sha256 = createHash('sha256').update(expected).digest('hex');
  expect(JSON.parse(answer.trim().split('\n').at(-1)!)).toMatchObject({ outputs: [{ sha256 }] });
  expect(Buffer.compare(uploads[0]!, expected)).toBe(0);
  expect(code).toBe(0);
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
