import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createClient, type Client } from '../../clients/typescript/src/index.ts';
import { startCuttingProxy, type CuttingProxy, type Fate } from '../support/cutting-proxy.ts';
import { grant, type Granted } from '../support/grants.ts';
import { expectCharged, periodTotals } from '../support/period-totals.ts';
import { small } from '../support/requests.ts';
import { sharedService } from '../support/use-service.ts';

const service = sharedService();
const { table } = service;
let proxy: CuttingProxy;
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
  client = createClient({
    apiKey: granted.key,
    baseUrl: `${proxy.url}${new URL(service.ready.baseUrl).pathname}`,
  });
  proxy.fates.length = 0;
  proxy.seen.length = 0;
});

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
const opens = async (link: string | undefined): Promise<boolean> => (await fetch(link!)).ok;

describe('a request that nobody waits for on the line', () => {
  test('holds its credits, is found by its id from anywhere, and ends with images', async () => {
    const request = await client.respondAsync(bodyFor('harbor', { numOutputs: 2 }));
    expect(request.creditsReserved).toBe(2);
    expect(await periodTotals(table, granted.license)).toEqual({ used: 0, committed: 2 });
    expect(['QUEUED', 'PROCESSING']).toContain((await request.status()).status);
    const seen: string[] = [];
    const image = await request.wait({ onStatus: ({ status }) => seen.push(status) });
    expect(seen.at(-1)).toBe('COMPLETED');
    expect(image).toMatchObject({ requestId: request.requestId, creditsCharged: 2, usage: null });
    expect(image.identity.name).toBe('harbor');
    expect(await Promise.all(image.outputs.map(opens))).toEqual([true, true]);
    // Another program, which knows nothing but the id.
    const elsewhere = await client.waitForGeneration(request.requestId);
    expect([elsewhere.seed, elsewhere.creditsCharged]).toEqual([image.seed, 2]);
    await expectCharged(table, granted.license, 2);
  });

  test('that fails throws the error that it would have been on the line, and costs nothing', async () => {
    const request = await client.respondAsync(bodyFor('flint'));
    const error = await failure(request.wait());
    const { requestId } = request;
    expect(error).toMatchObject({ name: 'ApiError', code: 'GENERATION_FAILED', status: 500, requestId });
    expect(error.message).toMatch(/\. Nothing was charged\.$/);
    await expectCharged(table, granted.license, 0);
  });

  test('is refused before it is accepted, and a dry run prices it', async () => {
    expect(await failure(client.respondAsync(bodyFor('aurora', { width: 100 })))).toMatchObject({
      code: 'INVALID_PARAMETERS',
    });
    expect(await client.dryRun(bodyFor('aurora'))).toMatchObject({ dryRun: true, credits: 1 });
    expect((await client.listGenerations()).generations).toEqual([]);
  });

  test('is one request for as long as its key is the same: running, and completed', async () => {
    const idempotencyKey = randomUUID();
    const first = await client.respondAsync(bodyFor('harbor'), { idempotencyKey });
    const second = await client.respondAsync(bodyFor('harbor'), { idempotencyKey });
    expect([second.requestId, second.creditsReserved]).toEqual([first.requestId, null]);
    const image = await second.wait();
    const third = await client.respondAsync(bodyFor('harbor'), { idempotencyKey });
    expect([third.requestId, third.creditsReserved]).toEqual([first.requestId, 1]);
    expect((await third.wait()).seed).toBe(image.seed);
    // The call that keeps the line open gets it too.
    expect((await client.generate(bodyFor('harbor'), { idempotencyKey })).requestId).toBe(first.requestId);
    await expectCharged(table, granted.license, 1);
  });

  test.each<[string, Fate]>([
    ['is cut before the service gets it', 'is cut before'],
    ['is cut when the service has it', 'is cut once it arrived'],
    ['is cut when the answer begins', 'is cut at the head'],
  ])('is accepted once when its connection %s', async (_how, fate) => {
    proxy.fates.push(fate);
    const request = await client.respondAsync(bodyFor('aurora'));
    expect(proxy.fates).toEqual([]);
    expect(await opens((await request.wait()).outputs[0])).toBe(true);
    expect((await client.listGenerations()).generations.map(({ id }) => id)).toEqual([request.requestId]);
    await expectCharged(table, granted.license, 1);
  });
});
