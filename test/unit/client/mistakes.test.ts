import { expect, test } from '@jest/globals';
import { createClient, type Client } from '../../../clients/typescript/src/index.ts';
import { answered, scriptedFetch } from '../../support/scripted-fetch.ts';

const good = { apiKey: 'svc_live_x', baseUrl: 'https://api.test/api/v1' };
const body = { identityId: 'idn_1', prompt: 'a quiet bay' };

/** A call throws this at once, after so many requests. */
async function expectMistake(call: (client: Client) => unknown, message: string, options = {}, init = {}) {
  const { fetch, sent } = scriptedFetch(answered({}, init));
  const outcome = (async () => call(createClient({ ...good, fetch, ...options })))();
  await expect(outcome).rejects.toMatchObject({ name: 'TypeError', message });
  expect(sent).toHaveLength('status' in init ? 1 : 0);
}

test.each<[string, (client: Client) => unknown]>([
  ['seed is NaN', (client) => client.generate({ ...body, seed: NaN })],
  ['from is Invalid Date', (client) => client.listGenerations({ from: new Date('x') } as object)],
  ['seed is NaN', (client) => client.generate({ ...body, seed: { toJSON: () => NaN } } as never)],
  ['a.1.b.0 is NaN', (client) => client.generate({ ...body, a: [0, { b: [NaN] }] } as typeof body)],
  [
    'name is Invalid Date',
    (client) => client.request('PATCH /account', { body: { name: new Date(NaN) } as never }),
  ],
])('%s: it is refused by name before anything is sent', async (what, call) => {
  await expectMistake(call, `${what}: give a finite number or a valid date.`);
});

test.each(['maxRetries', 'timeoutMs'])('an option that is no number is refused by name: %s', (name) => {
  expect(() => createClient({ ...good, [name]: NaN })).toThrow(`${name} is NaN`);
  expect(() => createClient({ ...good, timeoutMs: 0 })).toThrow('timeoutMs must be more than 0');
});

test.each([
  '127.0.0.1:4600/api/v1',
  'ftp://api.test/api/v1',
  'https://user:secret@api.test/api/v1',
  'https://api.test/api/v1?key=secret',
  'https://api.test/api/v1\n',
])('a base address that can be none is refused at once, and not quoted: %j', async (baseUrl) => {
  const message = 'baseUrl (IMAGE_BASE_URL) must be like https://images.example.com/api/v1.';
  await expectMistake((client) => client.listIdentities(), message, { baseUrl });
  await expectMistake((client) => client.generate(body), message, { baseUrl });
});

test.each([
  [{ code: 'ERR_SSL_WRONG_VERSION_NUMBER' }, 'ERR_SSL_WRONG_VERSION_NUMBER'],
  [{ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  [new Error('bad port'), 'bad port'],
])('a connection that no other try would make is refused at once: %j', async (cause, why) => {
  let tries = 0;
  const fetch = async () => {
    tries++;
    throw new TypeError('fetch failed', { cause });
  };
  const message = `baseUrl (IMAGE_BASE_URL) takes no such connection: ${why}.`;
  await expect(createClient({ ...good, fetch }).listIdentities()).rejects.toMatchObject({ message });
  expect(tries).toBe(1);
});

test.each([301, 308])('a redirect is refused at once, and not followed: %d', async (status) => {
  const message = 'baseUrl (IMAGE_BASE_URL) redirects: give the address that it leads to.';
  const init = { status, headers: { location: 'https://other.test/' } };
  await expectMistake((client) => client.listIdentities(), message, {}, init);
  await expectMistake((client) => client.generate(body), message, {}, init);
});
