import { randomUUID } from 'node:crypto';
import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  createClient,
  isApiError,
  type Client,
  type ClientOptions,
} from '../../clients/typescript/src/index.ts';
import { seededRandom } from '../faults/simulation/random.ts';
import { expectCharged } from '../support/period-totals.ts';
import { startCuttingProxy, type CuttingProxy, type Fate } from '../support/cutting-proxy.ts';
import { grant, type Granted } from '../support/grants.ts';
import { newestWith, small } from '../support/requests.ts';
import { samplePhoto } from '../support/uploads.ts';
import { sharedService } from '../support/use-service.ts';

const service = sharedService();
let proxy: CuttingProxy;
const { table } = service;
let granted: Granted;
let client: Client;

beforeAll(async () => {
  proxy = await startCuttingProxy(service.ready.baseUrl);
});
afterAll(async () => {
  await proxy.close();
});
beforeEach(async () => {
  granted = await grant(table);
  client = clientOf(granted);
  proxy.fates.length = 0;
  proxy.seen.length = 0;
});

function clientOf({ key }: Granted, options: Partial<ClientOptions> = {}): Client {
  const baseUrl = `${proxy.url}${new URL(service.ready.baseUrl).pathname}`;
  return createClient({ apiKey: key, baseUrl, ...options });
}

const bodyFor = (identity: string, more: object = {}) => ({
  ...small,
  identityId: service.ready.identities[identity]!,
  ...more,
});
const failure = (promise: Promise<unknown>): Promise<any> =>
  promise.then(
    () => Promise.reject(new Error('the call did not fail')),
    (error: unknown) => error,
  );
const posts = (): number => proxy.seen.filter((line) => line.startsWith('POST')).length;
const opens = async (link: string | undefined): Promise<boolean> => (await fetch(link!)).ok;

describe('a client', () => {
  test('generates, with progress as it happens, and finds it again', async () => {
    const events: string[] = [];
    const result = await client.generate(bodyFor('harbor'), {
      onAccepted: ({ creditsReserved }) => events.push(`accepted ${creditsReserved}`),
      onStarted: () => events.push('started'),
      onProgress: ({ steps }) => events.push(`of ${steps}`),
    });
    expect(events.slice(0, 2)).toEqual(['accepted 1', 'started']);
    expect(new Set(events.slice(2))).toEqual(new Set(['of 20']));
    const expected = { creditsCharged: 1, usage: { creditsUsed: 1 }, identity: { name: 'harbor' } };
    expect(result).toMatchObject(expected);
    expect(await opens(result.outputs[0])).toBe(true);
    const again = await client.getGeneration(result.requestId);
    expect(again).toMatchObject({ id: result.requestId, status: 'COMPLETED', seed: result.seed });
    expect(await opens(again.outputUrl!)).toBe(true);
  });

  test('lists identities and stored requests, and reads the health of the service', async () => {
    const identities = await client.listIdentities();
    expect(identities.map(({ id }) => id)).toContain(service.ready.identities.aurora);
    expect(await client.health()).toMatchObject({ status: 'ok' });
    const ids: string[] = [];
    for (let i = 0; i < 3; i++) ids.unshift((await client.generate(bodyFor('aurora'))).requestId);
    expect((await client.listGenerations({ limit: 1 })).generations.map(({ id }) => id)).toEqual([ids[0]]);
    const all: string[] = [];
    for await (const { id } of client.allGenerations({ limit: 1 })) all.push(id);
    expect(all).toEqual(ids);
  });

  test('tells what a request would cost, which costs nothing', async () => {
    const priced = await client.dryRun(bodyFor('aurora', { width: 1088, height: 1024 }));
    expect(priced).toMatchObject({ accepted: true, credits: 2, usage: { creditsCharged: 0 } });
    expect(await failure(client.dryRun(bodyFor('ember')))).toMatchObject({ code: 'IDENTITY_UNAVAILABLE' });
    await expectCharged(table, granted.license, 0);
    expect((await client.listGenerations()).generations).toEqual([]);
  });

  test('fetches its images, also by a link that the storage refuses by now', async () => {
    let refusals = 0;
    const refusedOnce: typeof fetch = (url, init) => {
      const isImage = String(url).includes('X-Amz-Signature');
      return fetch(isImage && refusals++ === 0 ? `${String(url)}0` : url, init);
    };
    const patient = clientOf(granted, { fetch: refusedOnce });
    const { images } = await patient.generate(bodyFor('aurora', { numOutputs: 2 }));
    const [first, second] = await Promise.all(images.map((image) => image.bytes()));
    expect(proxy.seen.map((line) => line.split(' ')[0])).toEqual(['POST', 'GET']);
    for (const bytes of [first!, second!]) expect((await sharp(bytes).metadata()).format).toBe('png');
    expect(Buffer.compare(first!, second!)).not.toBe(0);
  });

  test('is followed event by event', async () => {
    const types = new Set<string>();
    let last: unknown;
    for await (const event of client.generateEvents(bodyFor('harbor'))) {
      types.add(event.type);
      last = event;
    }
    // Other tests use the same model, so the request may wait for its turn.
    types.delete('queued');
    expect([...types]).toEqual(['accepted', 'started', 'progress', 'completed']);
    expect(last).toMatchObject({ result: { creditsCharged: 1, identity: { name: 'harbor' } } });
  });

  test('uploads a reference image that a generation then uses', async () => {
    const photo = await samplePhoto();
    for (const file of [photo, new Blob([new Uint8Array(photo)])]) {
      const uploadId = await client.uploadReference(file, { contentType: 'image/png' });
      const result = await client.generate(bodyFor('citrine', { referenceImages: [{ uploadId }] }));
      expect(result.referenceImagesUsed).toBe(1);
    }
    const error = await failure(client.uploadReference(new Uint8Array(11 * 1024 * 1024)));
    expect(error).toMatchObject({ name: 'UploadError', code: 'EntityTooLarge' });
  });

  test('throws a refusal with its code, without a retry', async () => {
    const poor = clientOf(await grant(table, { creditsLimit: 1, used: 1 }));
    const spent = await failure(poor.generate(bodyFor('aurora')));
    expect(isApiError(spent, 'CREDIT_LIMIT_EXCEEDED') && spent.retryAfterSeconds).toBeGreaterThan(60);
    const wrong = await failure(client.generate(bodyFor('aurora', { width: 100 })));
    expect([isApiError(wrong, 'INVALID_PARAMETERS'), isApiError(wrong, 'TIER_LIMIT')]).toEqual([true, false]);
    const revoked = clientOf(await grant(table, { key: { revokedAtMs: Date.now() } }));
    expect(isApiError(await failure(revoked.listIdentities()), 'INVALID_API_KEY')).toBe(true);
    expect(proxy.seen).toHaveLength(3);
  });

  test('does not repeat a generation that failed', async () => {
    const error = await failure(client.generate(bodyFor('flint')));
    expect(error).toMatchObject({ name: 'ApiError', code: 'GENERATION_FAILED', status: 500 });
    expect(error.message).toMatch(/\. Nothing was charged\.$/);
    expect((await client.getGeneration(error.requestId)).status).toBe('FAILED');
    expect(posts()).toBe(1);
    await expectCharged(table, granted.license, 0);
  });
});

/** API Gateway's own timeout: its X-Request-Id names no stored request, and the function behind it goes on. */
const gatewayTimeout: Fate = {
  forwardedButAnswered: {
    status: 504,
    headers: { 'x-request-id': randomUUID() },
    body: { error: 'The answer took too long.', code: 'TIMEOUT' },
  },
};

describe('an image arrives and is charged once', () => {
  const fates: [string, Fate, string][] = [
    ['is cut before the service gets it', 'is cut before', 'aurora'],
    ['is cut when the answer begins', 'is cut at the head', 'harbor'],
    ['is cut once it was accepted', { cutAfter: 'event: accepted' }, 'harbor'],
    ['is cut while it is painted', { cutAfter: 'event: progress' }, 'harbor'],
    ['is cut in the middle of its result', { cutAfter: '"outputs"' }, 'aurora'],
    ['times out at the gateway while it runs', gatewayTimeout, 'harbor'],
  ];

  test.each(fates)('when its request %s', async (_how, fate, identity) => {
    proxy.fates.push(fate);
    const result = await client.generate(bodyFor(identity));
    expect(proxy.fates).toEqual([]);
    expect(await opens(result.outputs[0])).toBe(true);
    const { generations } = await client.listGenerations();
    expect(generations.map(({ id, status }) => [id, status])).toEqual([[result.requestId, 'COMPLETED']]);
    await expectCharged(table, granted.license, 1);
  });

  test('when many run at once, and many connections break', async () => {
    const random = seededRandom(1841);
    const all: Fate[] = ['passes', ...fates.map(([, fate]) => fate)];
    const licenses = await Promise.all([1, 2, 3, 4].map(() => grant(table)));
    for (let i = 0; i < 12; i++) proxy.fates.push(random.pick(all));
    const jobs = licenses.flatMap((one) =>
      ['one', 'two'].map((prompt) => clientOf(one).generate(bodyFor('aurora', { prompt }))),
    );
    const results = await Promise.all(jobs);
    expect(new Set(results.map(({ requestId }) => requestId)).size).toBe(8);
    for (const { license } of licenses) await expectCharged(table, license, 2);
  });

  test('also when its caller aborts, which ends only the waiting, and repeats the call with the same key', async () => {
    const idempotencyKey = randomUUID();
    const aborting = new AbortController();
    const reason = new Error('left');
    const onStarted = (): void => aborting.abort(reason);
    const { signal } = aborting;
    const aborted = client.generate(bodyFor('harbor'), { idempotencyKey, signal, onStarted });
    expect(await failure(aborted)).toBe(reason);
    const requestId = await newestWith(service, granted.key, ['COMPLETED']);
    const result = await client.generate(bodyFor('harbor'), { idempotencyKey });
    expect(result.requestId).toBe(requestId);
    await expectCharged(table, granted.license, 1);
  });
});

test('an unreachable service is a ConnectionError', async () => {
  const gone = await startCuttingProxy(service.ready.baseUrl);
  await gone.close();
  const away = clientOf(granted, { baseUrl: gone.url, maxRetries: 0 });
  expect(await failure(away.generate(bodyFor('aurora')))).toMatchObject({ name: 'ConnectionError' });
  expect(await failure(away.health())).toMatchObject({ name: 'ConnectionError', answerBegan: false });
});

test('a key does not follow a redirect', async () => {
  const elsewhere = await startCuttingProxy(service.ready.baseUrl);
  try {
    for (const status of [302, 307]) {
      const headers = { location: `${elsewhere.url}/api/v1/generate` };
      proxy.fates.push({ answered: { status, headers, body: {} } });
      const told = await failure(clientOf(granted).generate(bodyFor('aurora')));
      expect(told).toMatchObject({ name: 'TypeError', message: expect.stringContaining('redirects') });
    }
    expect(elsewhere.seen).toEqual([]);
  } finally {
    await elsewhere.close();
  }
});
