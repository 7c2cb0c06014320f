import { expect, test } from '@jest/globals';
import { small } from '../support/requests.ts';
import { identities, newAccount, service } from './fixture.ts';

const { key } = await newAccount();

async function codingOf(path: string, acceptEncoding: string, init: RequestInit = {}) {
  const headers = { authorization: `Bearer ${key}`, 'accept-encoding': acceptEncoding };
  const answer = await fetch(`${service.ready.baseUrl}${path}`, { ...init, headers });
  return { coding: answer.headers.get('content-encoding'), text: await answer.text() };
}

test('an answer of a kilobyte or more is compressed for a client that takes gzip', async () => {
  const plain = await codingOf('/openapi.json', 'identity');
  for (const acceptEncoding of ['gzip', 'deflate, gzip;q=0.5, br', 'GZIP']) {
    const compressed = await codingOf('/openapi.json', acceptEncoding);
    expect([plain.coding, compressed.coding]).toEqual([null, 'gzip']);
    expect(compressed.text).toBe(plain.text);
  }
  for (const others of ['gzip;q=0', '*', 'br'])
    expect([others, (await codingOf('/openapi.json', others)).coding]).toEqual([others, null]);
});

test('short answers and those that may be streams are never compressed', async () => {
  const body = JSON.stringify({ ...small, identityId: identities.aurora, numOutputs: 3 });
  const generated = await codingOf('/generate', 'gzip', { method: 'POST', body });
  expect(generated.text.length).toBeGreaterThan(1024);
  expect(generated.coding).toBeNull();
  expect((await codingOf('/generate?limit=0', 'gzip')).coding).toBeNull();
});
