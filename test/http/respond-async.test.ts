import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newAccount } from '../support/accounts.ts';
import { expectError } from '../support/answers.ts';
import { emit, deliver, startContainer, type Container } from '../fuzz/quick-container.ts';
import { grant, tableOf, type Granted } from '../support/grants.ts';
import { copiesOf, objectsOf } from '../support/objects.ts';
import { expectCharged, periodTotals } from '../support/period-totals.ts';
import { small, stored } from '../support/requests.ts';
import { removeFolder, startService, type ApiAnswer } from '../support/service.ts';
import type { ServiceFixture } from '../support/fixture.ts';
import { until } from '../support/until.ts';
import { samplePhoto, sendFile } from '../support/uploads.ts';

/** What the container waits for with requests of the identity `harbor`. */
let opened: PromiseWithResolvers<void>;
/** How often it was called for each request. */
const calls = new Map<string, number>();
let container: Container;
const service = {} as ServiceFixture;

beforeAll(async () => {
  opened = Promise.withResolvers<void>();
  container = await startContainer(async (request, res) => {
    calls.set(request.requestId, (calls.get(request.requestId) ?? 0) + 1);
    emit(res, { event: 'started' });
    if (request.identity.settings.delaySeconds !== undefined) await opened.promise;
    await deliver(request, res);
  });
  const args = ['--container', container.url, '--async-deadline', '8', '--grace', '1'];
  Object.assign(service, await startService({ args }));
  service.table = tableOf(service.dataDir);
});

afterAll(async () => {
  await service.end();
  await container.close();
  removeFolder(service.dataDir);
});

const prefer = { prefer: 'respond-async' };
const bodyFor = (slug: string, more: object = {}) => ({
  ...small,
  identityId: service.ready.identities[slug],
  ...more,
});
const send = (key: string, slug: string, headers: object = prefer, more: object = {}): Promise<ApiAnswer> =>
  service.api({ path: '/generate', key, body: bodyFor(slug, more), headers: { ...headers } });

function expectAccepted(answer: ApiAnswer, credits = 1): string {
  const { requestId } = answer.body;
  expect([answer.status, answer.body]).toEqual([
    202,
    { requestId, status: 'QUEUED', creditsReserved: credits },
  ]);
  expect(answer.headers.get('location')).toBe(`/api/v1/generate/${requestId}`);
  expect(answer.headers.get('preference-applied')).toBe('respond-async');
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(answer.headers.get('x-request-id')).toBe(requestId);
  expect(answer.headers.get('content-type')).toBe('application/json');
  return requestId;
}

const found = (key: string, id: string) => service.api({ path: `/generate/${id}`, key });

async function endOf(key: string, id: string): Promise<any> {
  let record: any;
  const hasEnded = async () => {
    record = await stored(service, key, id);
    return record.completedAt !== null;
  };
  // Seldom enough for the limit of looking at records.
  await until('the request ends', hasEnded, 60_000, 300);
  return record;
}

/** A new gate, which the last one's requests no longer wait for. */
function closeGate(): void {
  opened.resolve();
  opened = Promise.withResolvers<void>();
}

describe('Prefer: respond-async', () => {
  test('is answered while the request runs; its record tells the rest, and the credits are held, then charged', async () => {
    closeGate();
    const { key, license } = await grant(service.table);
    const id = expectAccepted(await send(key, 'harbor'));
    await until(
      'the model works on it',
      async () => (await stored(service, key, id)).status === 'PROCESSING',
    );
    const open = await found(key, id);
    expect(open.body).toMatchObject({ status: 'PROCESSING', outputUrl: null, creditsCharged: 0 });
    expect(Number(open.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await periodTotals(service.table, license)).toEqual({ used: 0, committed: 1 });
    opened.resolve();
    expect(await endOf(key, id)).toMatchObject({
      status: 'COMPLETED',
      creditsCharged: 1,
      modelVersion: 'quick-1',
    });
    const done = await found(key, id);
    expect(done.headers.get('retry-after')).toBeNull();
    expect((await fetch(done.body.outputUrl)).status).toBe(200);
    expect(calls.get(id)).toBe(1);
    await expectCharged(service.table, license, 1);
  });

  test('wins over server-sent events, and other preferences change nothing', async () => {
    const { key } = await grant(service.table);
    const accept = 'text/event-stream';
    expectAccepted(await send(key, 'aurora', { accept, prefer: 'wait=5, Respond-Async; x=1' }));
    const usual = await send(key, 'aurora', { prefer: 'wait=5, return=minimal' });
    expect([usual.status, usual.headers.get('preference-applied')]).toEqual([200, null]);
    const events = await send(key, 'aurora', { accept, prefer: 'respond-async=no' });
    expect(events.headers.get('content-type')).toBe(accept);
  });

  test('a repeat with its Idempotency-Key is told that it runs, and then gets the finished answer', async () => {
    closeGate();
    const { key, license } = await grant(service.table);
    const headers = { ...prefer, 'idempotency-key': 'once' };
    const id = expectAccepted(await send(key, 'harbor', headers));
    const early = await send(key, 'harbor', headers);
    expectError(early, 409, 'IDEMPOTENCY_IN_PROGRESS');
    expect(early.headers.get('x-request-id')).toBe(id);
    opened.resolve();
    await endOf(key, id);
    for (const accept of ['application/json', 'text/event-stream']) {
      const again = await send(key, 'harbor', { ...headers, accept });
      expect([again.status, again.body.requestId]).toEqual([200, id]);
      expect(again.headers.get('idempotent-replayed')).toBe('true');
    }
    await expectCharged(service.table, license, 1);
  });

  test('is taken in the playground, by session', async () => {
    const account = await newAccount(service);
    const body = { ...bodyFor('aurora'), licenseId: account.license.licenseId };
    const answer = await account.bySession('/playground/generate', { body, headers: prefer });
    const id = expectAccepted(answer);
    expect(await endOf(account.session, id)).toMatchObject({ status: 'COMPLETED' });
    await expectCharged(service.table, account.license, 1);
  });

  test('its reference images are there for the model, and gone with its end', async () => {
    const { key, license } = await grant(service.table);
    const { body: upload } = await service.api({ method: 'POST', path: '/uploads', key });
    await sendFile(upload, await samplePhoto());
    const references = { referenceImages: [{ uploadId: upload.uploadId }] };
    const id = expectAccepted(await send(key, 'citrine', prefer, references));
    expect(await endOf(key, id)).toMatchObject({ status: 'COMPLETED', referenceImagesUsed: 1 });
    await until('they are gone', async () => copiesOf(service.dataDir, license).length === 0);
    expect(objectsOf(service.dataDir, license).length).toBeGreaterThan(0);
  });
});

test('what runs when the service is told to stop is released', async () => {
  closeGate();
  const granted: Granted = await grant(service.table);
  const id = expectAccepted(await send(granted.key, 'harbor'));
  await until(
    'the model works on it',
    async () => (await stored(service, granted.key, id)).status === 'PROCESSING',
  );
  await service.end('SIGTERM');
  expect(service.output()).toContain('stopped and cost nothing');
  const again = await startService({ dataDir: service.dataDir, args: ['--container', container.url] });
  Object.assign(service, again);
  expect(await stored(service, granted.key, id)).toMatchObject({
    status: 'FAILED',
    errorCode: 'SERVICE_UNAVAILABLE',
  });
});

test('what ran when the service was killed is ended by the next start', async () => {
  const { key, license } = await grant(tableOf(service.dataDir));
  closeGate();
  const id = expectAccepted(await send(key, 'harbor'));
  await until('the model works on it', async () => (await stored(service, key, id)).status === 'PROCESSING');
  await service.end('SIGKILL');
  Object.assign(
    service,
    await startService({ dataDir: service.dataDir, args: ['--container', container.url] }),
  );
  expect(await stored(service, key, id)).toMatchObject({ status: 'TIMEOUT', creditsCharged: 0 });
  await expectCharged(tableOf(service.dataDir), license, 0);
});
