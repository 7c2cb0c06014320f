import { expect, test } from '@jest/globals';
import { createClient, type Client, type ClientOptions } from '../../../clients/typescript/src/index.ts';
import { answered, scriptedFetch } from '../../support/scripted-fetch.ts';

const good = { apiKey: 'svc_live_x', baseUrl: 'https://api.test/api/v1' };
const body = { identityId: 'idn_1', prompt: 'a quiet bay' };

/** What a call throws, and how many requests it sent. */
async function mistake(call: (client: Client) => unknown, options: Partial<ClientOptions> = {}) {
  const { fetch, sent } = scriptedFetch(answered({}));
  try {
    await call(createClient({ ...good, fetch, ...options }));
  } catch (error) {
    const { name, message } = error as Error;
    return { name, message, requests: sent.length };
  }
  throw new Error('nothing was thrown');
}

test.each<[string, string, (client: Client) => unknown]>([
  ['seed is NaN', 'generate', (client) => client.generate({ ...body, seed: NaN })],
  ['width is Infinity', 'dryRun', (client) => client.dryRun({ ...body, width: Infinity })],
  ['height is -Infinity', 'respondAsync', (client) => client.respondAsync({ ...body, height: -Infinity })],
  ['seed is NaN', 'generateEvents', (client) => client.generateEvents({ ...body, seed: NaN }).next()],
  ['limit is NaN', 'listGenerations', (client) => client.listGenerations({ limit: NaN })],
  ['limit is Infinity', 'allGenerations', (client) => client.allGenerations({ limit: Infinity }).next()],
  [
    'createdFrom is Invalid Date',
    'a filter',
    (client) => client.listGenerations({ createdFrom: new Date('x') } as object),
  ],
  [
    'referenceImages.1.weights.0 is NaN',
    'a list below',
    (client) =>
      client.generate({
        ...body,
        referenceImages: [{ url: 'a' }, { weights: [NaN] }],
      } as unknown as typeof body),
  ],
  [
    'expiresAt is Invalid Date',
    'a date',
    (client) =>
      client.request('POST /keys', {
        body: { licenseId: 'l', name: 'n', expiresAt: new Date(NaN) as never },
      }),
  ],
])('%s: it is refused by name before anything is sent, by %s', async (what, _by, call) => {
  const message = `${what}: give a finite number or a valid date.`;
  expect(await mistake(call)).toEqual({ name: 'TypeError', message, requests: 0 });
});

test.each(['maxRetries', 'timeoutMs'] as const)(
  'an option is refused by name where it is no number: %s',
  (name) => {
    expect(() => createClient({ ...good, [name]: NaN })).toThrow(`${name} is NaN`);
  },
);

test.each([
  '127.0.0.1:4600/api/v1',
  'localhost:4600/api/v1',
  'not an address',
  '/api/v1',
  'ftp://api.test/api/v1',
  'https://',
  'https://user:secret@api.test/api/v1',
  'https://api.test/api/v1?key=secret',
  'https://api.test:99999/api/v1',
  'https://api.test/api/v1\n',
])('a base address that can be none is told at once, and not quoted: %j', async (baseUrl) => {
  const message = 'baseUrl (IMAGE_BASE_URL) must be like https://images.example.com/api/v1.';
  for (const call of [
    (client: Client) => client.listIdentities(),
    (client: Client) => client.generate(body),
  ]) {
    expect(await mistake(call, { baseUrl })).toEqual({ name: 'TypeError', message, requests: 0 });
  }
});

test.each([301, 302, 303, 307, 308])('a redirect is told at once, and not followed: %d', async (status) => {
  const message = 'baseUrl (IMAGE_BASE_URL) redirects: give the address that it leads to.';
  const { fetch, sent } = scriptedFetch(
    answered({}, { status, headers: { location: 'https://other.test/' } }),
  );
  for (const call of ['listIdentities', 'generate'] as const) {
    const outcome = await createClient({ ...good, fetch })
      [call](body)
      .catch((error: unknown) => error);
    expect(outcome).toMatchObject({ name: 'TypeError', message });
  }
  expect(sent).toHaveLength(2);
});
