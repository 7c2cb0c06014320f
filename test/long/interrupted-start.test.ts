import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { end, endCommands, startCommand, startOn } from '../support/command.ts';
import { expectWholeDemo } from '../support/demo.ts';
import { readyFile, removeFolder, temporaryFolder } from '../support/service.ts';
import { pause, until } from '../support/until.ts';

const folders: string[] = [];
const newFolder = (): string => {
  const folder = temporaryFolder();
  folders.push(folder);
  return folder;
};
/** What a first start takes from its first file on. */
let wholeMs: number;

/** Starts the service on an empty folder, as far as its first file. */
async function beginOn(dataDir: string) {
  const command = startCommand(['--port', '0', '--data', dataDir]);
  await until('the first file is there', () => existsSync(join(dataDir, 'service.json')), 60_000, 2);
  return command;
}

beforeAll(async () => {
  const dataDir = newFolder();
  const first = await beginOn(dataDir);
  const startedMs = performance.now();
  await readyFile(first, dataDir);
  wholeMs = performance.now() - startedMs;
  first.signal('SIGKILL');
  await first.ended;
});

afterAll(async () => {
  await endCommands();
  folders.forEach(removeFolder);
});

const tries = 5;
test.each(Array.from({ length: tries }, (_, i) => i + 1))(
  `a first start that was killed in part %i of ${tries} of its work is made good by the next`,
  async (part) => {
    const dataDir = newFolder();
    const killed = await beginOn(dataDir);
    await pause(((part - Math.random()) / tries) * wholeMs);
    killed.signal('SIGKILL');
    await killed.ended;
    const service = await startOn(dataDir);
    await expectWholeDemo(service);
    await end(service);
  },
);

test('a start with --fresh that was killed is made good by the next', async () => {
  const dataDir = newFolder();
  await end(await startOn(dataDir));
  const killed = startCommand(['--port', '0', '--data', dataDir, '--fresh']);
  // Emptying takes so short that this may see it done; either way the next start must find or make a whole service.
  const isFresh = () =>
    !existsSync(join(dataDir, 'table', 'CURRENT')) || existsSync(join(dataDir, 'ready.json'));
  await until('the folder is being emptied', isFresh, 60_000, 0);
  killed.signal('SIGKILL');
  await killed.ended;
  const service = await startOn(dataDir);
  await expectWholeDemo(service);
  expect(service.command.stderr()).toBe('');
  await end(service);
});
