import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { demoIdentities, demoKeys } from '../../local/demo-world.ts';
import { endCommands, readyFile, runToEnd, startCommand, type Command } from '../support/command.ts';
import { books, fixedTableOf } from '../support/books.ts';
import { grant } from '../support/grants.ts';
import { openImage } from '../support/png.ts';
import { generate, newestWith, stored } from '../support/requests.ts';
import { callApi, removeFolder, temporaryFolder, type RunningService } from '../support/service.ts';
import { sessionOf } from '../support/sessions.ts';
import { pause, until } from '../support/until.ts';
import { freePort } from '../support/free-port.ts';

const folders: string[] = [];
const newFolder = (): string => {
  const folder = temporaryFolder();
  folders.push(folder);
  return folder;
};

afterAll(async () => {
  await endCommands();
  folders.forEach(removeFolder);
});

type Service = Pick<RunningService, 'ready' | 'dataDir' | 'api'> & { command: Command };

async function start(dataDir: string, ...args: string[]): Promise<Service> {
  rmSync(join(dataDir, 'ready.json'), { force: true });
  const command = startCommand(['--port', '0', '--data', dataDir, ...args]);
  const ready = await readyFile(command, dataDir);
  return { ready, dataDir, command, api: (call) => callApi(ready.baseUrl, call) };
}

async function end({ command }: Service): Promise<void> {
  command.signal('SIGINT');
  expect(await command.ended).toBe(0);
}

describe('a second start finds everything where it was', () => {
  let port: string;
  let first: Service;
  let second: Service;
  let before: any;
  let link: string;
  let image: Buffer;
  let session: string;

  beforeAll(async () => {
    port = String(await freePort());
    first = await start(newFolder(), '--port', port);
    const { identities, keys } = first.ready;
    const answer = await generate(first, keys.starter!, { identityId: identities.aurora, seed: 5 });
    link = answer.body.outputs[0];
    image = await openImage(link);
    before = await stored(first, keys.starter!, answer.body.requestId);
    session = await sessionOf(first.dataDir);
    await end(first);
    second = await start(first.dataDir, '--port', port);
  });

  test('the ids and keys of the demo world, its accounts and their passwords', () => {
    expect(second.ready).toEqual(first.ready);
    expect(Object.keys(second.ready.accounts)).toHaveLength(2);
  });

  test('a session that began before, with what it could see then', async () => {
    const { status, body } = await second.api({ path: '/licenses', key: session });
    const { stranger: theirs, ...owners } = first.ready.licenses;
    expect([status, body.licenses.length]).toEqual([200, Object.keys(owners).length]);
    const history = `/generate?licenseId=${owners.starter}`;
    const { body: list } = await second.api({ path: history, key: session });
    expect(list.generations.at(-1).id).toBe(before.id);
    expect((await second.api({ path: `/usage?licenseId=${theirs}`, key: session })).status).toBe(404);
  });

  test('stored requests, every member but the signatures of their links', async () => {
    const bare = (url: string) => url.split('?')[0];
    const unsigned = (record: any) => ({
      ...record,
      outputUrl: bare(record.outputUrl),
      outputs: record.outputs.map(bare),
    });
    const after = await stored(second, second.ready.keys.starter!, before.id);
    expect(unsigned(after)).toEqual(unsigned(before));
  });

  test('links that were made before, to the same bytes', async () => {
    expect((await openImage(link)).equals(image)).toBe(true);
  });

  test('credits that were used before', async () => {
    const { keys, identities } = second.ready;
    const answer = await generate(second, keys.starter!, { identityId: identities.basalt });
    expect(answer.body.usage).toMatchObject({ creditsUsed: 2, creditsRemaining: 498, creditsCharged: 1 });
    const spent = await generate(second, keys['nearly-spent']!, { identityId: identities.basalt });
    expect(spent.body.usage).toMatchObject({ creditsUsed: 499, creditsRemaining: 1 });
  });

  test('--fresh on its folder while it runs refuses and harms nothing', async () => {
    const refused = await runToEnd(['--port', '0', '--data', second.dataDir, '--fresh']);
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^.*in use.*\.\n$/) });
    expect(await stored(second, second.ready.keys.starter!, before.id)).toMatchObject({ id: before.id });
    expect((await openImage(link)).equals(image)).toBe(true);
    expect(JSON.parse(readFileSync(join(second.dataDir, 'ready.json'), 'utf8'))).toEqual(second.ready);
  });

  test('unless it was started with --fresh: other ids, keys and passwords, old ones refused, old links dead', async () => {
    await end(second);
    const notOurs = join(first.dataDir, 'notes.txt');
    writeFileSync(notOurs, 'mine');
    const third = await start(first.dataDir, '--port', port, '--fresh');
    for (const kind of ['identities', 'licenses', 'keys'] as const) {
      const old = new Set(Object.values(first.ready[kind]));
      expect(Object.values(third.ready[kind]).filter((value) => old.has(value))).toEqual([]);
    }
    const refused = await third.api({ path: '/identities', key: first.ready.keys.pro });
    expect([refused.status, refused.body.code]).toEqual([401, 'INVALID_API_KEY']);
    for (const path of ['/licenses', '/keys', '/generate', '/identities']) {
      const ended = await third.api({ path, key: session });
      expect([path, ended.status, ended.body.code]).toEqual([path, 401, 'INVALID_SESSION']);
    }
    expect((await third.api({ path: '/licenses', key: await sessionOf(third.dataDir) })).status).toBe(200);
    const passwords = ({ ready }: Service) => Object.values(ready.accounts).map(({ password }) => password);
    expect(passwords(third).filter((password) => passwords(first).includes(password))).toEqual([]);
    const list = await third.api({ path: '/generate', key: third.ready.keys.starter });
    expect(list.body).toEqual({ generations: [], nextCursor: null });
    expect((await fetch(link)).status).toBe(403);
    expect(readFileSync(notOurs, 'utf8')).toBe('mine');
    await end(third);
  });
});

describe('Ctrl-C', () => {
  let dataDir: string;

  /** Ends the service by `stop` while an identity paints for a license of its own. */
  async function stopWhileItRuns(identity: string, stop: (command: Command) => void) {
    const service = await start(dataDir);
    const granted = await grant(await fixedTableOf(dataDir));
    const identityId = service.ready.identities[identity];
    const running = generate(service, granted.key, { identityId }).catch(() => null);
    const id = await newestWith(service, granted.key, ['PROCESSING']);
    stop(service.command);
    return { ...granted, id, answer: await running, code: await service.command.ended };
  }

  beforeAll(() => {
    dataDir = newFolder();
  });

  test.each([
    ['lets what runs finish', (command: Command) => command.signal('SIGINT')],
    [
      'counts once when it arrives twice, as when npm passes on what the terminal sent already',
      (command: Command) => {
        command.signal('SIGINT');
        setTimeout(() => command.signal('SIGINT'), 20);
      },
    ],
  ])('%s', async (_, stop) => {
    const { key, license, id, answer, code } = await stopWhileItRuns('harbor', stop);
    expect({ status: answer?.status, code }).toEqual({ status: 200, code: 0 });
    const next = await start(dataDir);
    expect(await stored(next, key, id)).toMatchObject({ status: 'COMPLETED', creditsCharged: 1 });
    expect(await books(await fixedTableOf(dataDir), license)).toEqual({ used: 1, committed: 1 });
    await end(next);
  });

  test('pressed again later leaves at once, and the next start gives back what was held', async () => {
    const { key, license, id, answer, code } = await stopWhileItRuns('glacier', (command) => {
      command.signal('SIGINT');
      setTimeout(() => command.signal('SIGINT'), 1200);
    });
    expect(answer).toBeNull();
    expect(code).not.toBe(0);
    const next = await start(dataDir);
    expect((await stored(next, key, id)).status).toMatch(/^(TIMEOUT|FAILED)$/);
    expect(await books(await fixedTableOf(dataDir), license)).toEqual({ used: 0, committed: 0 });
    await end(next);
  });
});

describe('a first start that was interrupted', () => {
  async function expectWholeWorld(service: Service): Promise<void> {
    const { keys, identities } = service.ready;
    expect(Object.keys(keys).sort()).toEqual(Object.keys(demoKeys).sort());
    for (const [name, { state }] of Object.entries(demoKeys)) {
      const answer = await service.api({ path: '/identities', key: keys[name] });
      const accepted = state === 'active' && name !== 'ended';
      expect([name, answer.status]).toEqual([name, accepted ? 200 : 401]);
      if (!accepted) continue;
      const names = Object.keys(demoIdentities).filter((of) => (of === 'drift') === (name === 'specialist'));
      const expected = names.map((slug) => ({ slug, id: identities[slug] }));
      expect(answer.body.identities.map(({ slug, id }: any) => ({ slug, id }))).toEqual(expected);
    }
    const answer = await generate(service, keys['nearly-spent']!, { identityId: identities.aurora });
    expect(answer.body.usage).toMatchObject({ creditsUsed: 499, creditsLimit: 500 });
  }

  let wholeMs: number;

  beforeAll(async () => {
    const dataDir = newFolder();
    const first = startCommand(['--port', '0', '--data', dataDir]);
    await until('the first file is there', () => existsSync(join(dataDir, 'service.json')), 10_000, 2);
    const startedMs = performance.now();
    await readyFile(first, dataDir);
    wholeMs = performance.now() - startedMs;
    first.signal('SIGKILL');
    await first.ended;
  });

  const tries = 5;
  test.each(Array.from({ length: tries }, (_, i) => i + 1))(
    `by kill -9 in part %i of ${tries} of its work, is made good by the next start`,
    async (part) => {
      const dataDir = newFolder();
      const killed = startCommand(['--port', '0', '--data', dataDir]);
      await until('the first file is there', () => existsSync(join(dataDir, 'service.json')), 10_000, 2);
      await pause(((part - Math.random()) / tries) * wholeMs);
      killed.signal('SIGKILL');
      await killed.ended;
      const service = await start(dataDir);
      await expectWholeWorld(service);
      await end(service);
    },
  );

  test('just before it noted that the demo world is whole, is made good by the next start', async () => {
    const dataDir = newFolder();
    const first = await start(dataDir);
    await end(first);
    const path = join(dataDir, 'service.json');
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), demo: null }));
    const service = await start(dataDir);
    const { ready } = service;
    expect(ready.keys.pro).not.toBe(first.ready.keys.pro);
    await expectWholeWorld(service);
    await end(service);
  });

  test('by kill -9 in the middle of --fresh, is made good by the next start', async () => {
    const dataDir = newFolder();
    await end(await start(dataDir));
    const killed = startCommand(['--port', '0', '--data', dataDir, '--fresh']);
    const current = join(dataDir, 'table', 'CURRENT');
    await until('the folder is being emptied', () => !existsSync(current), 10_000, 0);
    killed.signal('SIGKILL');
    await killed.ended;
    const service = await start(dataDir);
    await expectWholeWorld(service);
    await end(service);
  });
});
