import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { defaultProvider } from '../../shared/adapters/lambda-credentials.ts';

const names = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'] as const;
const before = names.map((name) => process.env[name]);

beforeEach(() => {
  for (const name of names) delete process.env[name];
});

afterEach(() => {
  for (const [i, name] of names.entries()) {
    if (before[i] === undefined) delete process.env[name];
    else process.env[name] = before[i];
  }
});

test("are the role's, as Lambda gives them: with the session token, without which a request is refused", async () => {
  Object.assign(process.env, {
    AWS_ACCESS_KEY_ID: 'ASIA1',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_SESSION_TOKEN: 'token',
  });
  expect(await defaultProvider()()).toMatchObject({
    accessKeyId: 'ASIA1',
    secretAccessKey: 'secret',
    sessionToken: 'token',
  });
});

test('are looked for again where there were none, and then kept', async () => {
  const provide = defaultProvider();
  await expect(provide()).rejects.toThrow('credentials');
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'ASIA1', AWS_SECRET_ACCESS_KEY: 'secret' });
  expect((await provide()).accessKeyId).toBe('ASIA1');
  process.env.AWS_ACCESS_KEY_ID = 'ASIA2';
  expect((await provide()).accessKeyId).toBe('ASIA1');
});
