import { beforeAll, expect, test } from '@jest/globals';
import { grant } from '../support/grants.ts';
import { generate } from '../support/requests.ts';
import { sharedService } from '../support/use-service.ts';

const service = sharedService();
let key: string;

beforeAll(async () => {
  ({ key } = await grant(service.table));
  const { status } = await generate(service, key, { identityId: service.ready.identities.aurora });
  expect(status).toBe(200);
});

async function codingOf(path: string, acceptEncoding: string, init: RequestInit = {}) {
  const headers = { authorization: `Bearer ${key}`, 'accept-encoding': acceptEncoding };
  const answer = await fetch(`${service.ready.baseUrl}${path}`, { ...init, headers });
  return { coding: answer.headers.get('content-encoding'), text: await answer.text() };
}

test.each(['gzip', 'deflate, gzip;q=0.5, br', 'GZIP'])(
  'an answer of a kilobyte or more is compressed for a client that takes %s',
  async (acceptEncoding) => {
    const plain = await codingOf('/openapi.json', 'identity');
    const small = await codingOf('/openapi.json', acceptEncoding);

    expect([plain.coding, small.coding]).toEqual([null, 'gzip']);
    expect(small.text).toBe(plain.text);
    expect((await codingOf('/generate', acceptEncoding)).coding).toBe('gzip');
  },
);

test.each(['identity', 'gzip;q=0', '*', 'br'])('%s leaves it as it is', async (acceptEncoding) => {
  expect((await codingOf('/openapi.json', acceptEncoding)).coding).toBeNull();
});

test('short answers and those that may be streams are never compressed', async () => {
  const { identities } = service.ready;
  const body = JSON.stringify({
    identityId: identities.aurora,
    prompt: 'a quiet test',
    width: 512,
    height: 512,
    numOutputs: 3,
    numInferenceSteps: 20,
  });
  const painted = await codingOf('/generate', 'gzip', { method: 'POST', body });
  expect(painted.text.length).toBeGreaterThan(1024);
  expect(painted.coding).toBeNull();
  expect((await codingOf('/generate?limit=0', 'gzip')).coding).toBeNull();
});
