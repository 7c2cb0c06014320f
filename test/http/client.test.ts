import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createClient, isApiError, type Client } from '../../clients/typescript/src/index.ts';
import { startCuttingProxy, type CuttingProxy, type Fate } from '../support/cutting-proxy.ts';
import { small } from '../support/requests.ts';
import { samplePhoto } from '../support/uploads.ts';
import { identities, newAccount, service, type Account } from './fixture.ts';

// The unit tests of the client hold when it tries again, and how it waits.

let proxy: CuttingProxy;
let own: Account;
let client: Client;

beforeAll(async () => void (proxy = await startCuttingProxy(service.ready.baseUrl)));
afterAll(() => proxy.close());
beforeEach(async () => {
  own = await newAccount();
  client = clientOf(own);
  proxy.fates.length = 0;
  proxy.seen.length = 0;
});

function clientOf({ key }: Account): Client {
  const baseUrl = `${proxy.url}${new URL(service.ready.baseUrl).pathname}`;
  return createClient({ apiKey: key, baseUrl });
}

const bodyFor = (slug: string, more: object = {}) => ({ ...small, identityId: identities[slug]!, ...more });
const failure = (promise: Promise<unknown>): Promise<any> =>
  promise.then(
    () => Promise.reject(new Error('the call did not fail')),
    (error: unknown) => error,
  );
const opens = async (link: string | undefined): Promise<boolean> => (await fetch(link!)).ok;

test('a client generates, with progress as it happens, and finds it again', async () => {
  const events: string[] = [];
  const result = await client.generate(bodyFor('harbor'), {
    onAccepted: ({ creditsReserved }) => events.push(`accepted ${creditsReserved}`),
    onStarted: () => events.push('started'),
    onProgress: ({ steps }) => events.push(`of ${steps}`),
  });
  expect(events.slice(0, 2)).toEqual(['accepted 1', 'started']);
  expect(new Set(events.slice(2))).toEqual(new Set(['of 20']));
  expect(result).toMatchObject({
    creditsCharged: 1,
    usage: { creditsUsed: 1 },
    identity: { name: 'harbor' },
  });
  expect(await opens(result.outputs[0])).toBe(true);
  const again = await client.getGeneration(result.requestId);
  expect(again).toMatchObject({ id: result.requestId, status: 'COMPLETED', seed: result.seed });
  expect(await opens(again.outputUrl!)).toBe(true);
});

test('a client lists identities and requests, reads the health, and prices a request, which costs nothing', async () => {
  const ids = (await client.listIdentities()).map(({ id }) => id);
  expect(ids).toContain(identities.aurora);
  const { id, version, versions } = await client.getIdentity('aurora');
  expect([id, versions.find(({ active }) => active)?.version]).toEqual([identities.aurora, version]);
  expect(await client.health()).toMatchObject({ status: 'ok' });
  const priced = await client.dryRun(bodyFor('aurora', { width: 1088, height: 1024 }));
  expect(priced).toMatchObject({ accepted: true, credits: 2, usage: { creditsCharged: 0 } });
  expect((await client.listGenerations({ limit: 1 })).generations).toEqual([]);
});

test('a client uploads a reference image that a generation then uses', async () => {
  const photo = await samplePhoto();
  for (const file of [photo, new Blob([new Uint8Array(photo)])]) {
    const uploadId = await client.uploadReference(file, { contentType: 'image/png' });
    const result = await client.generate(bodyFor('citrine', { referenceImages: [{ uploadId }] }));
    expect(result.referenceImagesUsed).toBe(1);
  }
  const error = await failure(client.uploadReference(new Uint8Array(11 * 1024 * 1024)));
  expect(error).toMatchObject({ name: 'UploadError', code: 'EntityTooLarge' });
});

test('a client throws a refusal or a failure with its code, without a retry', async () => {
  const poor = clientOf(await newAccount({ creditsLimit: 1, used: 1 }));
  const spent = await failure(poor.generate(bodyFor('aurora')));
  expect(isApiError(spent, 'CREDIT_LIMIT_EXCEEDED') && spent.retryAfterSeconds).toBeGreaterThan(60);
  const wrong = await failure(client.generate(bodyFor('aurora', { width: 100 })));
  expect([isApiError(wrong, 'INVALID_PARAMETERS'), isApiError(wrong, 'TIER_LIMIT')]).toEqual([true, false]);
  const failed = await failure(client.generate(bodyFor('flint')));
  expect(failed).toMatchObject({ name: 'ApiError', code: 'GENERATION_FAILED', status: 500 });
  expect(failed.message).toMatch(/\. Nothing was charged\.$/);
  expect(proxy.seen.filter((line) => line.startsWith('POST'))).toHaveLength(3);
});

/** API Gateway's own timeout: its X-Request-Id names no stored request, and the function behind it goes on. */
const gatewayTimeout: Fate = {
  forwardedButAnswered: {
    status: 504,
    headers: { 'x-request-id': randomUUID() },
    body: { error: 'The answer took too long.', code: 'TIMEOUT' },
  },
};
const byEvents = (body: ReturnType<typeof bodyFor>) => client.generate(body);
const waiting = (body: ReturnType<typeof bodyFor>) => client.generate(body, { wait: 20 });
const asynchronously = async (body: ReturnType<typeof bodyFor>) => (await client.respondAsync(body)).wait();

describe('an image arrives and is charged once', () => {
  test.each<[string, Fate, string, typeof byEvents]>([
    ['is cut before the service gets it', 'is cut before', 'aurora', byEvents],
    ['is cut when the answer begins', 'is cut at the head', 'harbor', byEvents],
    ['is cut once it was accepted', { cutAfter: 'event: accepted' }, 'harbor', byEvents],
    ['is cut while it is generated', { cutAfter: 'event: progress' }, 'harbor', byEvents],
    ['is cut in the middle of its result', { cutAfter: '"outputs"' }, 'aurora', byEvents],
    ['times out at the gateway while it runs', gatewayTimeout, 'harbor', byEvents],
    ['is asynchronous and is cut before the service gets it', 'is cut before', 'aurora', asynchronously],
    ['is waited for and is cut once it arrived', 'is cut once it arrived', 'harbor', waiting],
    [
      'is asynchronous and is cut when the service has it',
      'is cut once it arrived',
      'aurora',
      asynchronously,
    ],
  ])('when its request %s', async (_how, fate, identity, generate) => {
    proxy.fates.push(fate);
    const result = await generate(bodyFor(identity));
    expect(proxy.fates).toEqual([]);
    expect(await opens(result.outputs[0])).toBe(true);
    const { generations } = await client.listGenerations();
    expect(generations.map(({ id, status }) => [id, status])).toEqual([[result.requestId, 'COMPLETED']]);
    await own.expectCharged(1);
  });
});

test('an asynchronous request holds its credits, is found by its id from anywhere, and ends with images', async () => {
  const request = await client.respondAsync(bodyFor('harbor', { numOutputs: 2 }));
  expect(request.creditsReserved).toBe(2);
  expect(await own.periodTotals()).toEqual({ used: 0, committed: 2 });
  expect(['QUEUED', 'PROCESSING']).toContain((await request.status()).status);
  const seen: string[] = [];
  const image = await request.wait({ onStatus: ({ status }) => seen.push(status) });
  expect(seen.at(-1)).toBe('COMPLETED');
  expect(image).toMatchObject({ requestId: request.requestId, creditsCharged: 2, usage: null });
  expect(await Promise.all(image.outputs.map(opens))).toEqual([true, true]);
  // Another program, which knows nothing but the id.
  const elsewhere = await client.waitForGeneration(request.requestId);
  expect([elsewhere.seed, elsewhere.creditsCharged]).toEqual([image.seed, 2]);
  await own.expectCharged(2);
});

test('a client cancels a request, whoever waits for it, and nothing is charged', async () => {
  const accepted = Promise.withResolvers<string>();
  const onAccepted = ({ requestId }: { requestId: string }): void => accepted.resolve(requestId);
  const waits = failure(client.generate(bodyFor('harbor'), { onAccepted }));
  const requestId = await accepted.promise;
  const cancelled = { id: requestId, status: 'FAILED', errorCode: 'CANCELLED', images: [] };
  expect(await client.cancel(requestId)).toMatchObject(cancelled);
  expect(await waits).toMatchObject({ code: 'CANCELLED', status: 400, requestId });
  expect(await client.cancel(requestId)).toMatchObject(cancelled);
  expect(proxy.seen.filter((line) => line === 'POST /api/v1/generate')).toHaveLength(1);
  const made = await client.generate(bodyFor('aurora'), { wait: 20 });
  expect(isApiError(await failure(client.cancel(made.requestId)), 'REQUEST_FINAL')).toBe(true);
  await own.expectCharged(1);
  expect(await client.key()).toMatchObject({
    access: 'license',
    credits: { used: 1 },
    license: { inFlight: 0 },
  });
});

test('reference images are files, too: one is uploaded once, and a repeat is the same request', async () => {
  const photo = await samplePhoto();
  const path = join(tmpdir(), `reference-${randomUUID()}.png`);
  writeFileSync(path, photo);
  try {
    const referenceImages = [{ path }, pathToFileURL(path), new Blob([new Uint8Array(photo)])];
    const options = { idempotencyKey: 'order-7' };
    const first = await client.generate(bodyFor('citrine', { referenceImages }), options);
    expect(first.referenceImagesUsed).toBe(3);
    const uploads = () => proxy.seen.filter((line) => line === 'POST /api/v1/uploads').length;
    const sent = uploads();
    const again = await client.generate(bodyFor('citrine', { referenceImages }), options);
    expect([again.requestId, uploads()]).toEqual([first.requestId, sent]);
    await own.expectCharged(1);
    const line = bodyFor('citrine', { referenceImages: [{ path }] });
    const results: unknown[] = [];
    const batch = {
      batchId: 'spring',
      store: new Map(),
      onResult: ({ result }: any) => results.push(result.requestId),
    };
    expect(await client.batch([line, line], batch)).toMatchObject({ completed: 2, failed: 0 });
    expect(await client.batch([line, line], batch)).toMatchObject({ completed: 0, skipped: 2 });
    expect([new Set(results).size, uploads()]).toEqual([2, sent]);
    await own.expectCharged(3);
  } finally {
    rmSync(path);
  }
});

test('a key does not follow a redirect', async () => {
  const elsewhere = await startCuttingProxy(service.ready.baseUrl);
  for (const status of [302, 307]) {
    const headers = { location: `${elsewhere.url}/api/v1/generate` };
    proxy.fates.push({ answered: { status, headers, body: {} } });
    const error = await failure(client.generate(bodyFor('aurora')));
    expect(error).toMatchObject({ name: 'TypeError', message: expect.stringContaining('redirects') });
  }
  expect(elsewhere.seen).toEqual([]);
  await elsewhere.close();
});
