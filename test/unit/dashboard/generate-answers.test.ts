import { expect, test } from '@jest/globals';
import { createApi, type Api } from '../../../dashboard/src/api/client.ts';
import { generate } from '../../../dashboard/src/api/generate.ts';

const body = { licenseId: 'lic_1', identityId: 'idn_1', prompt: 'a quiet bay' };

function answering(response: Response): Api {
  const token = async (): Promise<string> => 'token';
  const tokens = { accessToken: token, replaceToken: token, end: () => {} };
  return createApi('https://api.test', tokens, async () => response);
}

const broken = new ReadableStream({ start: (stream) => stream.error(new TypeError('terminated')) });

test.each([
  ['a page in its place', new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } })],
  ['an object without a result', Response.json({})],
  ['an answer that breaks off', new Response(broken, { headers: { 'content-type': 'application/json' } })],
])('%s is told in a sentence that says where to look', async (_what, response) => {
  const failed = generate(answering(response), { body, idempotencyKey: 'once' });
  await expect(failed).rejects.toMatchObject({
    name: 'ApiError',
    code: 'NETWORK',
    message: expect.stringContaining('history'),
  });
});
