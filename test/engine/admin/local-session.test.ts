import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { removeFolder, startService, type RunningService } from '../../support/service.ts';
import { runAdmin, type Run } from './world.ts';

const owner = 'owner@example.test';
const stranger = 'stranger@example.test';

let service: RunningService;
const localSession = (...args: string[]): Promise<Run> =>
  runAdmin(['--data', service.dataDir, 'local-session', ...args]);

beforeAll(async () => void (service = await startService({ args: ['--token-lifetime', '60'] })));
afterAll(async () => {
  await service.end();
  removeFolder(service.dataDir);
});

/** The ids of the access records that a token opens. */
async function licensesOf(token: string): Promise<string[]> {
  const { status, body } = await service.api({ path: '/licenses', key: token });
  expect(status).toBe(200);
  return body.licenses.map((license: { licenseId: string }) => license.licenseId).sort();
}

describe('admin local-session', () => {
  test('prints a token that the API takes for the account, and nothing else', async () => {
    const { stranger: theirs, ...owners } = service.ready.licenses;
    const runs = await Promise.all([localSession(owner), localSession(stranger)]);
    for (const { code, stdout, stderr } of runs) {
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    }
    const [ownersToken, strangersToken] = runs.map(({ stdout }) => stdout.trim()) as [string, string];
    expect(await licensesOf(ownersToken)).toEqual(Object.values(owners).sort());
    expect(await licensesOf(strangersToken)).toEqual([theirs]);
  });

  test('gives an hour, whatever the lifetime of those who sign in', async () => {
    const { exp, iat, token_use: use } = decodeJwt((await localSession(owner)).stdout.trim());
    expect({ lifetimeSeconds: exp! - iat!, use }).toEqual({ lifetimeSeconds: 3600, use: 'access' });
  });

  test('with --json prints one object with the token', async () => {
    const { code, stdout, stderr } = await localSession(owner, '--json');
    expect({ code, stderr, lines: stdout.split('\n').length }).toEqual({ code: 0, stderr: '', lines: 2 });
    const { accessToken, ...rest } = JSON.parse(stdout);
    expect(rest).toEqual({});
    expect(await licensesOf(accessToken)).toContain(service.ready.licenses.pro);
  });

  test('knows an e-mail address in any case', async () => {
    const { stdout } = await localSession('Stranger@Example.TEST');
    expect(await licensesOf(stdout.trim())).toEqual([service.ready.licenses.stranger]);
  });

  test.each(['nobody@example.test', 'owner', '', 'owner@example.test '])(
    'tells in one sentence that there is no account %j',
    async (email) => {
      const { code, stdout, stderr } = await localSession(email);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/^error: .*no such account.*\.\n$/);
      for (const known of [owner, stranger]) expect(stderr).toContain(known);
      const { accounts } = service.ready;
      for (const { password } of Object.values(accounts)) expect(stderr).not.toContain(password);
    },
  );

  test.each([
    ['--table', 'images'],
    ['--stack', 'images'],
  ])('is not for AWS: %s is a mistake', async (...place) => {
    for (const args of [place, [...place, '--data', service.dataDir]]) {
      const { code, stdout, stderr } = await runAdmin([...args, 'local-session', owner]);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(/^error: .*local service.*\.\n$/);
    }
  });

  test('needs to know who signs in', async () => {
    const { code, stdout, stderr } = await localSession();
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^error: .*email.*\n$/);
  });

  test('tells where no local service runs, and what to do', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'admin-none-'));
    const runs = await Promise.all(
      [folder, join(folder, 'none')].map((data) => runAdmin(['--data', data, 'local-session', owner])),
    );
    rmSync(folder, { recursive: true });
    for (const { code, stdout, stderr } of runs) {
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/^error: No local service runs on .*npm start.*\n$/);
    }
  });

  test('has its help', async () => {
    const { code, stdout } = await runAdmin(['local-session', '--help']);
    expect(code).toBe(0);
    expect(stdout).toContain('Examples:\n  npm run --silent admin -- local-session owner@example.test');
  });
});
