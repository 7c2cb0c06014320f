import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { removeFolder, startService, temporaryFolder } from '../support/service.ts';
import { until } from '../support/until.ts';

test('killing npm alone leaves no service behind that keeps the port and the data folder', async () => {
  const dataDir = temporaryFolder();
  const npm = spawn('npm', ['start', '--', '--port', '0', '--data', dataDir], {
    cwd: new URL('../..', import.meta.url).pathname,
    stdio: 'ignore',
  });
  const readyPath = join(dataDir, 'ready.json');
  await until('the service is ready', () => existsSync(readyPath));
  const { baseUrl } = JSON.parse(readFileSync(readyPath, 'utf8')) as { baseUrl: string };
  expect((await fetch(`${baseUrl}/health`)).status).toBe(200);
  npm.kill('SIGKILL');
  await until('the service has followed', () =>
    fetch(`${baseUrl}/health`).then(
      () => false,
      () => true,
    ),
  );
  const next = await startService({ dataDir });
  expect(await next.end()).toBe(0);
  removeFolder(dataDir);
});
