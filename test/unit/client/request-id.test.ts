import { expect, test } from '@jest/globals';
import { createClient } from '../../../clients/typescript/src/index.ts';
import { accepted, openStream, streamOf } from '../../support/generation-run.ts';
import { refused, scriptedFetch, type Script } from '../../support/scripted-fetch.ts';

const generate = (scripts: Script[], signal?: AbortSignal): Promise<any> =>
  createClient({
    apiKey: 'svc_live_x',
    baseUrl: 'https://api.test',
    maxRetries: 0,
    ...scriptedFetch(...scripts),
  })
    .generate({ identityId: 'idn_1', prompt: 'a quiet bay' }, { signal })
    .catch((error: unknown) => error);
const streamed: Script = () => streamOf(accepted);
const brokenJson: Script = () => {
  const source = new ReadableStream({ start: (stream) => stream.error(new TypeError('terminated')) });
  return new Response(source, { headers: { 'x-request-id': 'req_1' } });
};

test.each<[string, Script[], string]>([
  ['an answer without events breaks off', [brokenJson], 'ConnectionError'],
  ['the key is revoked', [streamed, refused(401, 'INVALID_API_KEY', { requestId: 'x' })], 'ApiError'],
  ['its record can not be read', [streamed, () => new Response('<html>')], 'ApiError'],
])('an error after a generation was accepted has its ID: %s', async (_what, scripts, name) => {
  expect(await generate(scripts)).toMatchObject({ name, requestId: 'req_1' });
});

test('calls that share a signal each have the ID of their own, and none before it is accepted', async () => {
  const aborting = new AbortController();
  const named =
    (id: string): Script =>
    (signal) => {
      const { response, write } = openStream(signal);
      write(accepted.replace('req_1', id));
      return response;
    };
  const both = ['req_1', 'req_2'].map((id) => generate([named(id)], aborting.signal));
  setTimeout(() => aborting.abort(), 50);
  const errors = await Promise.all([...both, generate([streamed], AbortSignal.abort())]);
  expect(errors.map(({ name, requestId }) => `${name} ${requestId}`)).toEqual([
    'AbortError req_1',
    'AbortError req_2',
    'AbortError undefined',
  ]);
});
