import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from '@jest/globals';
import { invoke } from '../model-contract/invocation.ts';
import { plainIdentity } from '../model-contract/sample-request.ts';
import { modelRequest, startSink } from './support.ts';

const main = fileURLToPath(new URL('../../../local/painter/main.ts', import.meta.url));
const running: ChildProcess[] = [];

afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});

/** Starts the painter as its README says, on a port that the system chooses. */
async function startAlone(): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, [main, '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  running.push(child);
  const [line] = (await once(child.stdout!, 'data')) as [Buffer];
  return { url: /http:\S+/.exec(line.toString())![0], child };
}

test('two processes paint the same bytes, metadata and all', async () => {
  const sink = await startSink();
  for (const name of ['one', 'two']) {
    const { url } = await startAlone();
    const identity = { ...plainIdentity, id: 'idn_of_an_operator' };
    const { closing } = await invoke(url, modelRequest([sink.link(name)], { identity, requestId: name }));
    expect(closing).toMatchObject({ event: 'completed' });
  }
  const [one, two] = sink.uploads;

  expect(one!.sha256).toBe(two!.sha256);
  await sink.close();
});

test('a killed process leaves no thread or child behind', async () => {
  const { url, child } = await startAlone();
  const sink = await startSink();
  const request = modelRequest([sink.link('x')], { width: 2048, height: 2048 });
  const working = invoke(url, request, { onEvent: () => child.kill('SIGKILL') });
  await Promise.allSettled([working, once(child, 'exit')]);

  expect(child.signalCode).toBe('SIGKILL');
  if (process.platform === 'linux') expect(readdirSync('/proc')).not.toContain(String(child.pid));
  await expect(fetch(`${url}/ping`)).rejects.toThrow();
  await sink.close();
});

test('a polite end is quick', async () => {
  const { child } = await startAlone();
  const start = performance.now();
  child.kill('SIGTERM');
  await once(child, 'exit');

  expect(child.exitCode).toBe(0);
  expect(performance.now() - start).toBeLessThan(2_000);
});
