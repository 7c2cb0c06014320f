import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Table } from '../../shared/store/table.ts';
import { expectError } from '../support/answers.ts';
import { books, fixedTableOf } from '../support/books.ts';
import { endCommands, readyFile, runToEnd, startCommand, type Command } from '../support/command.ts';
import { grant, type Granted } from '../support/grants.ts';
import { generate, newestWith, stored } from '../support/requests.ts';
import { callApi, removeFolder, temporaryFolder, type RunningService } from '../support/service.ts';
import { until } from '../support/until.ts';

/** One folder for all: what one service left is looked at through the next. */
let dataDir: string;

beforeAll(() => {
  dataDir = temporaryFolder();
});

afterAll(async () => {
  await endCommands();
  removeFolder(dataDir);
});

type Service = Pick<RunningService, 'ready' | 'api'> & { command: Command; table: Table };

async function start(...args: string[]): Promise<Service> {
  rmSync(join(dataDir, 'ready.json'), { force: true });
  const command = startCommand(['--port', '0', '--data', dataDir, ...args]);
  const ready = await readyFile(command, dataDir);
  const table = await fixedTableOf(dataDir);
  return { ready, command, table, api: (call) => callApi(ready.baseUrl, call) };
}

/** Begins a generation by a license of its own and waits until its model paints. */
async function begin(service: Service, identity: string, headers: Record<string, string> = {}) {
  const granted = await grant(service.table, { used: 3 });
  const identityId = service.ready.identities[identity];
  const answer = generate(service, granted.key, { identityId }, headers);
  const id = await newestWith(service, granted.key, ['PROCESSING']);
  return { granted, id, answer };
}

/** The last line that it printed. */
const said = ({ command }: Service) => command.stdout().trim().split('\n').at(-1)!.trim();

/** Starts the next service and looks up what was stored, and the license's books. */
async function after<T>(look: (next: Service) => Promise<T>): Promise<T> {
  const next = await start();
  const found = await look(next);
  next.command.signal('SIGTERM');
  expect(await next.command.ended).toBe(0);
  return found;
}

async function expectFree(next: Service, { key, license }: Granted, id: string): Promise<void> {
  expect(await stored(next, key, id)).toMatchObject({
    status: 'FAILED',
    errorMessage: 'The service was stopped before the image was finished.',
    creditsCharged: 0,
    outputUrl: null,
  });
  expect(await books(next.table, license)).toEqual({ used: 3, committed: 3 });
  const again = await generate(next, key, { identityId: next.ready.identities.aurora });
  expect(again.body.usage).toMatchObject({ creditsUsed: 4, creditsCharged: 1 });
}

describe('SIGTERM while an image is painted', () => {
  test('that is not done within the grace: 503, nothing charged, nothing held, and it is said so', async () => {
    const service = await start('--grace', '1');
    const { granted, id, answer } = await begin(service, 'glacier');
    service.command.signal('SIGTERM');
    const refused = await answer;
    expectError(refused, 503, 'SERVICE_UNAVAILABLE');
    expect(refused.headers.get('x-request-id')).toBe(id);
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(refused.body.error).toBe(
      'The service was stopped before the image was finished. Nothing was charged.',
    );
    expect(await service.command.ended).toBe(0);
    expect(said(service)).toBe('1 request was stopped and cost nothing.');
    expect(service.command.stderr()).toBe('');
    await after((next) => expectFree(next, granted, id));
  });

  test('that is told by events: the last one says it, and the stream ends', async () => {
    const service = await start('--grace', '0');
    const { granted, id, answer } = await begin(service, 'glacier', { accept: 'text/event-stream' });
    service.command.signal('SIGTERM');
    const { status, body } = await answer;
    expect(status).toBe(200);
    const [event, data] = body.trim().split('\n').slice(-2);
    expect(event).toBe('event: failed');
    expect(JSON.parse(data.slice('data: '.length))).toEqual({
      error: 'The service was stopped before the image was finished. Nothing was charged.',
      code: 'SERVICE_UNAVAILABLE',
      status: 503,
    });
    expect(await service.command.ended).toBe(0);
    expect(said(service)).toBe('1 request was stopped and cost nothing.');
    await after((next) => expectFree(next, granted, id));
  });

  test('that nobody waits for any more is released too', async () => {
    const service = await start('--grace', '0');
    const { key, license } = await grant(service.table);
    const client = new AbortController();
    const { baseUrl, identities } = service.ready;
    const sent = fetch(`${baseUrl}/generate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ identityId: identities.glacier, prompt: 'x' }),
      signal: client.signal,
    });
    await newestWith(service, key, ['PROCESSING']);
    client.abort();
    await expect(sent).rejects.toThrow('abort');
    service.command.signal('SIGTERM');
    expect(await service.command.ended).toBe(0);
    expect(said(service)).toBe('1 request was stopped and cost nothing.');
    await after(async (next) => {
      expect(await books(next.table, license)).toEqual({ used: 0, committed: 0 });
    });
  });

  test('who is done within the grace gets an image, who is not gets credits back, and who comes is sent away', async () => {
    const service = await start('--grace', '6');
    const slow = await begin(service, 'glacier');
    const quick = await begin(service, 'harbor');
    service.command.signal('SIGTERM');
    await until('it stops', () => service.command.stdout().includes('Stopping'));
    const late = await generate(service, quick.granted.key, { identityId: service.ready.identities.aurora });
    expectError(late, 503, 'SERVICE_UNAVAILABLE');
    expect((await quick.answer).status).toBe(200);
    expectError(await slow.answer, 503, 'SERVICE_UNAVAILABLE');
    expect(await service.command.ended).toBe(0);
    expect(said(service)).toBe('1 request finished, 1 was stopped and cost nothing.');
    await after(async (next) => {
      await expectFree(next, slow.granted, slow.id);
      const { key, license } = quick.granted;
      expect(await stored(next, key, quick.id)).toMatchObject({ status: 'COMPLETED', creditsCharged: 1 });
      expect(await books(next.table, license)).toEqual({ used: 4, committed: 4 });
    });
  });
});

test('SIGTERM with enough grace: the image is painted and answered', async () => {
  const service = await start('--grace', '60');
  const { answer } = await begin(service, 'harbor');
  service.command.signal('SIGTERM');
  expect((await answer).status).toBe(200);
  expect(await service.command.ended).toBe(0);
  expect(said(service)).toBe('1 request finished.');
});

test('SIGTERM while nothing runs does not wait for the grace', async () => {
  const service = await start('--grace', '450');
  service.command.signal('SIGTERM');
  expect(await service.command.ended).toBe(0);
  expect(service.command.stdout()).toContain('what runs has 450 seconds to finish');
  expect(said(service)).toBe('No request was running.');
});

test('--grace takes whole seconds from 0 to 450, 10 unless it is given', async () => {
  const { stdout } = await runToEnd(['--help']);
  expect(stdout).toMatch(/--grace SECONDS .*0 to 450.*default 10/);
  for (const value of ['-1', '451', '1.5', '']) {
    const { code, stderr } = await runToEnd([`--grace=${value}`]);
    expect([value, code]).toEqual([value, 1]);
    expect(stderr).toContain(`--grace must be a whole number from 0 to 450, not "${value}".`);
  }
});
