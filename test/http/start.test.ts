import { execFile } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ReadyFile } from '../../local/service.ts';
import * as commands from '../support/command.ts';
import { openImage, pngSize } from '../support/png.ts';
import { small } from '../support/requests.ts';
import { readyFile, removeFolder, temporaryFolder } from '../support/service.ts';
import { until } from '../support/until.ts';
import { freePort } from '../support/free-port.ts';

const folders: string[] = [];
const newFolder = (): string => {
  const folder = temporaryFolder();
  folders.push(folder);
  return folder;
};

/** A folder with whole demo data whose service has ended; tests damage copies of it. */
let finished: string;
let port: string;
let first: commands.CommandService;
/** A service that runs through the whole file, started by `npm start` as a person does. */
let command: commands.Command;
let dataDir: string;
let ready: ReadyFile;

beforeAll(async () => {
  finished = newFolder();
  port = String(await freePort());
  first = await commands.startOn(finished, '--port', port);
  await commands.end(first);
  dataDir = newFolder();
  command = commands.npmStart(['--port', '0', '--data', dataDir, '--no-samples']);
  ready = await readyFile(command, dataDir);
  await until('the banner is printed', () => command.stdout().includes('Ctrl-C'));
});

afterAll(async () => {
  await commands.endCommands();
  folders.forEach(removeFolder);
});

function copyOfFinished(): string {
  const folder = newFolder();
  fs.cpSync(finished, folder, { recursive: true });
  return folder;
}

/** Exit code, streams; how every refusal to start must look is asserted here. */
async function expectRefusal(args: string[], words: RegExp): Promise<void> {
  const { code, stdout, stderr } = await commands.runToEnd(args);
  expect(stderr).toMatch(words);
  expect({ code, stdout, lines: stderr.split('\n').length }).toEqual({ code: 1, stdout: '', lines: 2 });
  expect(stderr).toMatch(/^\S.*[^.]\.\n$/);
  expect(stderr).not.toMatch(/Error:|node:|\bat /);
}

/** The lines of the banner that a reader pastes, exactly as printed. */
function printedLines(stdout: string): string {
  return /^ *export [^]*?\n *curl (?:.*\\\n)*.*$/m.exec(stdout)![0];
}

describe('what npm start prints', () => {
  test('the banner has the base URL, one key that works, the dashboard and an account that can sign in there', () => {
    const printed = command.stdout();
    expect(printed).toContain(ready.baseUrl);
    expect(printed).toMatch(new RegExp(`^ *Dashboard +${ready.dashboardUrl}$`, 'm'));
    const [, email = '', password] = /^ *Sign in +(\S+) with the password (\S+)$/m.exec(printed) ?? [];
    expect(ready.accounts[email]).toEqual({ password });
    const keys = new Set(printed.match(/svc_live_\w+/g));
    expect([...keys]).toEqual([ready.keys.pro]);
  });

  test('the printed lines, pasted into a shell, answer 200 with links that open to real PNG images, and the same again', async () => {
    const paste = () => promisify(execFile)('sh', ['-c', printedLines(command.stdout())]);
    const { stdout } = await paste();
    const { outputs, requestId } = JSON.parse(stdout);
    expect(JSON.parse((await paste()).stdout).requestId).toBe(requestId);
    expect(outputs).toHaveLength(1);
    expect(pngSize(await openImage(outputs[0]))).toEqual({ width: 1024, height: 1024 });
    expect(requestId).toMatch(/^[0-9a-f-]{36}$/);
    expect(command.stdout()).toMatch(/^ +200 POST \/api\/v1\/generate \d+ ms$/m);
  });

  test('ready.json has the addresses, the accounts and every id and key of the demo data, and nothing else', () => {
    const licenses = ['starter', 'standard', 'pro', 'enterprise', 'specialist', 'nearly-spent', 'ended'];
    const names = {
      identities: ['aurora', 'basalt', 'citrine', 'drift', 'ember', 'flint', 'glacier', 'harbor'],
      licenses: [...licenses, 'stranger'],
      keys: [...licenses, 'stranger', 'revoked', 'expired'],
    };
    const { baseUrl, dashboardUrl, accounts, ...demo } = ready;
    expect(dashboardUrl).toBe(`${new URL(baseUrl).origin}/`);
    const account = { password: expect.stringMatching(/^\S{12,}$/) };
    expect(accounts).toEqual({
      'owner@example.test': account,
      'stranger@example.test': account,
      'newcomer@example.test': account,
    });
    expect(Object.keys(demo).sort()).toEqual(Object.keys(names).sort());
    for (const kind of ['identities', 'licenses', 'keys'] as const) {
      expect(Object.keys(demo[kind]).sort()).toEqual(names[kind].sort());
      expect(new Set(Object.values(demo[kind])).size).toBe(names[kind].length);
    }
  });

  test('files that hold keys or secrets are for their owner only', () => {
    for (const name of ['ready.json', 'engines.json', 'service.json', 'service.log']) {
      expect([name, fs.statSync(join(dataDir, name)).mode & 0o077]).toEqual([name, 0]);
    }
  });
});

describe('starting and stopping', () => {
  test('--port N serves on that port; SIGINT ends it with 0 and removes ready.json', async () => {
    const { command: ended, ready: was } = first;
    expect([new URL(was.baseUrl).port, ended.stderr()]).toEqual([port, '']);
    expect(fs.existsSync(join(finished, 'ready.json'))).toBe(false);
  });

  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s to npm alone gives what runs its time, and sends away who comes',
    async (signal) => {
      const folder = copyOfFinished();
      const args = ['--port', '0', '--data', folder, '--no-samples', '--grace', '450'];
      const service = commands.npmStart(args);
      const { baseUrl, keys, identities } = await readyFile(service, folder);
      const send = (identityId: string | undefined, headers: Record<string, string> = {}) =>
        fetch(`${baseUrl}/generate`, {
          method: 'POST',
          headers: { authorization: `Bearer ${keys.pro}`, ...headers },
          body: JSON.stringify({ ...small, identityId }),
        });
      const begun = await send(identities.harbor, { accept: 'text/event-stream' });
      // An answer of events begins once the request is accepted.
      expect(begun.status).toBe(200);
      service.kill(signal);
      await until('it stops', () => service.stdout().includes('Stopping'));
      const late = await send(identities.aurora);
      expect([late.status, await late.json()]).toMatchObject([503, { code: 'SERVICE_UNAVAILABLE' }]);
      expect(await begun.text()).toContain('event: completed');
      expect(await service.ended).toBe(0);
      expect(service.stdout()).toMatch(/Stopping: what runs has 450 seconds[^]*1 request finished\.\n$/);
      expect([service.groupLives(), fs.existsSync(join(folder, 'ready.json'))]).toEqual([false, false]);
    },
  );

  test('--help explains every flag on standard output and exits with 0', async () => {
    const { code, stdout, stderr } = await commands.runToEnd(['--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const flag of ['--port', '--data', '--fresh', '--deadline', '--help'])
      expect(stdout).toContain(flag);
    expect(stdout).toMatch(/--token-lifetime SECONDS .*5 to 86400.*3600/);
  });
});

describe('one clear sentence and a non-zero exit', () => {
  test.each<[string[], RegExp]>([
    [['--bogus'], /--bogus/],
    [['--port', '65536'], /--port.*65536/],
    [['--deadline', '0'], /--deadline.*1 to 450/],
    [['--grace=-1'], /--grace must be a whole number from 0 to 450, not "-1"/],
    [['--token-lifetime', '86401'], /--token-lifetime.*5 to 86400.*86401/],
    [['--allow-callback', 'http://a.test/'], /--allow-callback must be an https address.*a\.test/],
    [['--wake', '5'], /^--wake needs --sleep: without it, the model has no cold start\.$/m],
    [
      ['--keep-refused-prompts', '5'],
      /^--keep-refused-prompts needs --moderation: without it, no prompt is checked\.$/m,
    ],
    [['--sleep', '0'], /--sleep must be a whole number from 1 to 86400, not "0"/],
    [['--container', '127.0.0.1:8080'], /--container must be an address/],
    [['--data', ''], /--data/],
    [['--fresh=yes'], /--fresh/],
    [['--support', 'nobody'], /--support must be an e-mail address/],
  ])('for the flags %j', async (args, words) => {
    await expectRefusal(args, words);
  });

  test('for a port that is in use', async () => {
    const inUse = new URL(ready.baseUrl).port;
    const folder = newFolder();
    await expectRefusal(['--port', inUse, '--data', folder], new RegExp(`${inUse} is already in use`));
    expect(fs.readdirSync(folder)).toEqual([]);
  });

  /** Nor is anything changed, with --fresh either. */
  async function expectRefusedFolder(folder: string, words: RegExp, file: string): Promise<void> {
    const before = fs.readFileSync(file, 'utf8');
    for (const fresh of [[], ['--fresh']])
      await expectRefusal(['--port', '0', '--data', folder, ...fresh], words);
    expect(fs.readFileSync(file, 'utf8')).toBe(before);
  }

  test('for a data folder that a running service has, which goes on', async () => {
    await expectRefusedFolder(dataDir, /in use/, join(dataDir, 'ready.json'));
    expect((await fetch(`${ready.baseUrl}/health`)).status).toBe(200);
  });

  test("for a file where the data folder should be, and for a folder of another program's data", async () => {
    const folder = newFolder();
    const theirs = join(folder, 'objects', 'theirs');
    fs.mkdirSync(join(folder, 'objects'));
    fs.writeFileSync(theirs, 'theirs');
    await expectRefusedFolder(theirs, /data folder/, theirs);
    await expectRefusedFolder(folder, /not this service's/, theirs);
  });

  /** What the engines find; a unit test of the data folder holds what can be wrong with service.json. */
  const damage: Record<string, (folder: string) => void> = {
    "the table's files are garbage": (folder) => {
      for (const name of fs.readdirSync(join(folder, 'table')))
        fs.writeFileSync(join(folder, 'table', name), 'garbage '.repeat(100));
    },
    'the table is missing': (folder) => fs.rmSync(join(folder, 'table'), { recursive: true }),
    'the objects are a file': (folder) => {
      fs.rmSync(join(folder, 'objects'), { recursive: true });
      fs.writeFileSync(join(folder, 'objects'), '');
    },
  };

  test.each(Object.keys(damage))('for a corrupt data folder: %s', async (what) => {
    const folder = copyOfFinished();
    damage[what]!(folder);
    await expectRefusal(['--port', '0', '--data', folder], /data folder.*--fresh/);
  });

  test('which --fresh mends', async () => {
    const folder = copyOfFinished();
    damage["the table's files are garbage"]!(folder);
    damage['the objects are a file']!(folder);
    fs.writeFileSync(join(folder, 'service.json'), 'garbage');
    const mended = commands.startCommand(['--port', '0', '--data', folder, '--no-samples', '--fresh']);
    expect((await readyFile(mended, folder)).keys.pro).toBeDefined();
    mended.signal('SIGINT');
    expect(await mended.ended).toBe(0);
  });
});

// Last, because it ends the service of this file.
test('killing npm alone leaves no service behind that keeps the port and the data folder', async () => {
  command.kill('SIGKILL');
  await until('the service has followed', () =>
    fetch(`${ready.baseUrl}/health`).then(
      () => false,
      () => true,
    ),
  );
  await until('the folder is free', () => !command.groupLives());
});
