import { afterEach, expect, jest, test } from '@jest/globals';
import { defaultProvider } from '../../../shared/base/lambda-credentials.ts';

const role = { AWS_ACCESS_KEY_ID: 'ASIA1', AWS_SECRET_ACCESS_KEY: 'secret', AWS_SESSION_TOKEN: 'token' };
const environment = (variables: Record<string, string>) =>
  void jest.replaceProperty(process, 'env', variables);

afterEach(() => void jest.restoreAllMocks());

test("are the role's, as Lambda gives them: with the session token, without which a request is refused", async () => {
  environment(role);
  const expected = { accessKeyId: 'ASIA1', secretAccessKey: 'secret', sessionToken: 'token' };
  expect(await defaultProvider()()).toMatchObject(expected);
});

test('are looked for again where there were none, and then kept', async () => {
  environment({});
  const provide = defaultProvider();
  await expect(provide()).rejects.toThrow('credentials');
  environment(role);
  expect((await provide()).accessKeyId).toBe('ASIA1');
  environment({ ...role, AWS_ACCESS_KEY_ID: 'ASIA2' });
  expect((await provide()).accessKeyId).toBe('ASIA1');
});
