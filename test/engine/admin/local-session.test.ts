import { expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { useService } from '../../support/use-service.ts';
import { runHere } from './fixture.ts';

const owner = 'owner@example.test';
const stranger = 'stranger@example.test';

const service = useService({ args: ['--token-lifetime', '60'] });
const localSession = (...args: string[]) => runHere(['--data', service.dataDir, 'local-session', ...args]);

/** The ids of the licenses that a token opens. */
async function licensesOf(token: string): Promise<string[]> {
  const { status, body } = await service.api({ path: '/licenses', key: token });
  expect(status).toBe(200);
  return body.licenses.map((license: { licenseId: string }) => license.licenseId).sort();
}

test('a token that the API takes for the account is printed, and nothing else', async () => {
  const { stranger: theirs, ...owners } = service.ready.licenses;
  // An e-mail address is the same in any case.
  const runs = await Promise.all([localSession(owner), localSession('Stranger@Example.TEST')]);
  for (const { code, stdout, stderr } of runs) {
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  }
  const [ownersToken, strangersToken] = runs.map(({ stdout }) => stdout.trim()) as [string, string];
  expect(await licensesOf(ownersToken)).toEqual(Object.values(owners).sort());
  expect(await licensesOf(strangersToken)).toEqual([theirs]);
});

test('with --json one object has the token; it is for an hour, whatever the lifetime of those who sign in', async () => {
  const { code, stdout, stderr } = await localSession(owner, '--json');
  expect({ code, stderr, lines: stdout.split('\n').length }).toEqual({ code: 0, stderr: '', lines: 2 });
  const { accessToken, ...rest } = JSON.parse(stdout);
  expect(rest).toEqual({});
  const { exp, iat, token_use: use } = decodeJwt(accessToken);
  expect({ lifetimeSeconds: exp! - iat!, use }).toEqual({ lifetimeSeconds: 3600, use: 'access' });
});

test.each(['nobody@example.test', 'owner', ''])(
  'one sentence says that there is no account %j',
  async (email) => {
    const { code, stdout, stderr } = await localSession(email);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^error: .*no such account.*\.\n$/);
    for (const known of [owner, stranger]) expect(stderr).toContain(known);
    for (const { password } of Object.values(service.ready.accounts)) expect(stderr).not.toContain(password);
  },
);

test.each(['--table', '--stack'])('it is not for AWS: %s is a mistake', async (option) => {
  const { code, stdout, stderr } = await runHere([
    option,
    'x',
    '--data',
    service.dataDir,
    'local-session',
    owner,
  ]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^error: .*local service.*\.\n$/);
});
