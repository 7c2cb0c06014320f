import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { RunningServer } from '../../local/http/server.ts';
import { generationStore } from '../../shared/generations/store.ts';
import { expectError } from '../support/answers.ts';
import { emit, deliver, startContainer } from '../fuzz/quick-container.ts';
import { tableOf } from '../support/grants.ts';
import { copiesOf, objectsOf } from '../support/objects.ts';
import { removeFolder, startService, type ApiAnswer } from '../support/service.ts';
import type { ServiceFixture } from '../support/fixture.ts';
import { until } from '../support/until.ts';
import { samplePhoto, sendFile } from '../support/uploads.ts';
import { newAccount as accountOf, type Account } from './fixture.ts';

/** What the container waits for with requests of the identity `harbor`. */
let opened: PromiseWithResolvers<void>;
/** How often it was called for each request. */
const calls = new Map<string, number>();
let container: RunningServer;
const service = {} as ServiceFixture;

/** Starts it, or again on the same data. */
async function start(dataDir?: string): Promise<void> {
  const args = ['--container', container.url, '--async-deadline', '8', '--grace', '1'];
  Object.assign(service, await startService({ args, ...(dataDir && { dataDir }) }));
  service.table = tableOf(service.dataDir);
}

beforeAll(async () => {
  opened = Promise.withResolvers<void>();
  container = await startContainer(async (request, res) => {
    calls.set(request.requestId, (calls.get(request.requestId) ?? 0) + 1);
    emit(res, { event: 'started' });
    if (request.prompt === 'fail') {
      emit(res, { event: 'failed', reason: 'model_error', message: 'it fell over' });
      return void res.end();
    }
    if (request.identity.settings.delaySeconds !== undefined) await opened.promise;
    await deliver(request, res);
  });
  await start();
});

afterAll(async () => {
  await service.end();
  await container.close();
  removeFolder(service.dataDir);
});

const prefer = { prefer: 'respond-async' };
const newAccount = () => accountOf({}, service);
const ofIdentity = (slug: string) => ({ identityId: service.ready.identities[slug] });

/** @returns the id of the request that was accepted. */
function expectAccepted({ status, headers, body }: ApiAnswer, applied = 'respond-async'): string {
  const { requestId } = body;
  expect([status, body]).toEqual([202, { requestId, status: 'QUEUED', creditsReserved: 1 }]);
  expect(Object.fromEntries(headers)).toMatchObject({
    location: `/api/v1/generate/${requestId}`,
    'preference-applied': applied,
    'retry-after': expect.stringMatching(/^[1-9]/),
    'x-request-id': requestId,
    'content-type': 'application/json',
  });
  return requestId;
}

async function endOf({ stored }: Account, id: string): Promise<any> {
  let record: any;
  const hasEnded = async () => {
    record = await stored(id);
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

/** A request that the model works on until the gate opens. */
async function sendHeld(own: Account, headers: Record<string, string> = {}): Promise<string> {
  closeGate();
  const id = expectAccepted(await own.generate(ofIdentity('harbor'), { ...prefer, ...headers }));
  await until('the model works on it', async () => (await own.stored(id)).status === 'PROCESSING');
  return id;
}

describe('Prefer: respond-async', () => {
  test('is answered while the request runs; its record shows the rest, and the credits are held, then charged', async () => {
    const own = await newAccount();
    const id = await sendHeld(own);
    const open = await own.byKey(`/generate/${id}`);
    expect(open.body).toMatchObject({ status: 'PROCESSING', outputUrl: null, creditsCharged: 0 });
    expect(Number(open.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await own.periodTotals()).toEqual({ used: 0, committed: 1 });
    opened.resolve();
    const completed = { status: 'COMPLETED', creditsCharged: 1, modelVersion: 'quick-1' };
    expect(await endOf(own, id)).toMatchObject(completed);
    const done = await own.byKey(`/generate/${id}`);
    expect(done.headers.get('retry-after')).toBeNull();
    expect((await fetch(done.body.outputUrl)).status).toBe(200);
    expect(calls.get(id)).toBe(1);
    await own.expectCharged(1);
  });

  test('wins over server-sent events, and other preferences change nothing', async () => {
    const { generate } = await newAccount();
    const accept = 'text/event-stream';
    expectAccepted(await generate({}, { accept, prefer: 'wait=5, Respond-Async; x=1' }));
    const usual = await generate({}, { prefer: 'wait=61, return=minimal' });
    expect([usual.status, usual.headers.get('preference-applied')]).toEqual([200, null]);
    const events = await generate({}, { accept, prefer: 'wait=5, respond-async=no' });
    expect(events.headers.get('content-type')).toBe(accept);
  });

  test('a repeat with its Idempotency-Key is refused while it runs, and then gets the finished answer', async () => {
    const own = await newAccount();
    const headers = { ...prefer, 'idempotency-key': 'once' };
    const id = await sendHeld(own, headers);
    const repeat = (more: object = {}) => own.generate(ofIdentity('harbor'), { ...headers, ...more });
    const early = await repeat();
    expectError(early, 409, 'IDEMPOTENCY_IN_PROGRESS');
    expect(early.headers.get('x-request-id')).toBe(id);
    opened.resolve();
    await endOf(own, id);
    for (const accept of ['application/json', 'text/event-stream']) {
      const again = await repeat({ accept });
      expect([again.status, again.body.requestId]).toEqual([200, id]);
      expect(again.headers.get('idempotent-replayed')).toBe('true');
    }
    await own.expectCharged(1);
  });

  test('is taken in the playground, by session', async () => {
    const own = await newAccount();
    const id = expectAccepted(await own.play({}, prefer));
    expect(await endOf(own, id)).toMatchObject({ status: 'COMPLETED' });
    await own.expectCharged(1);
  });

  test('its reference images are there for the model, and gone with its end', async () => {
    const own = await newAccount();
    const { body: upload } = await own.byKey('/uploads', { method: 'POST' });
    await sendFile(upload, await samplePhoto());
    const referenceImages = [{ uploadId: upload.uploadId }];
    const id = expectAccepted(await own.generate({ ...ofIdentity('citrine'), referenceImages }, prefer));
    expect(await endOf(own, id)).toMatchObject({ status: 'COMPLETED', referenceImagesUsed: 1 });
    await until('they are gone', async () => copiesOf(service.dataDir, own.license).length === 0);
    expect(objectsOf(service.dataDir, own.license).length).toBeGreaterThan(0);
  });
});

describe('Prefer: wait', () => {
  const applied = ({ status, headers }: ApiAnswer) => [status, headers.get('preference-applied')];

  test('answers the result, or the error, as if the caller had waited, of a request with the deadline of asynchronous ones', async () => {
    const own = await newAccount();
    const made = await own.generate({ seed: 7 }, { prefer: 'wait=60' });
    expect(applied(made)).toEqual([200, 'wait=60']);
    const usual = await own.generate({ seed: 7 });
    const { usage } = made.body;
    expect({ ...usual.body.usage, creditsUsed: 1, creditsRemaining: usage.creditsLimit - 1 }).toEqual(usage);
    expect(Object.keys(made.body)).toEqual(Object.keys(usual.body));
    const record = await generationStore(service.table).get(own.license.licenseId, made.body.requestId);
    expect(record!.deadlineMs - record!.createdAtMs).toBe(8000);
    const [failed, theirs] = [
      await own.play({ prompt: 'fail' }, { prefer: 'respond-async, wait=60' }),
      await own.play({ prompt: 'fail' }),
    ];
    expect(applied(failed)).toEqual([500, 'respond-async, wait=60']);
    expect(failed.body).toEqual(theirs.body);
    await own.expectCharged(2);
  });

  test('answers 202 when the time is over, and the request goes on', async () => {
    closeGate();
    const own = await newAccount();
    const startedMs = Date.now();
    const open = await own.generate(ofIdentity('harbor'), { prefer: 'wait=1' });
    expect(Date.now() - startedMs).toBeGreaterThanOrEqual(1000);
    const id = expectAccepted(open, 'wait=1');
    opened.resolve();
    expect(await endOf(own, id)).toMatchObject({ status: 'COMPLETED' });
    await own.expectCharged(1);
  });
});

test('what runs when the service is stopped is released', async () => {
  const own = await newAccount();
  const id = await sendHeld(own);
  await service.end('SIGTERM');
  expect(service.output()).toContain('stopped without a charge');
  await start(service.dataDir);
  expect(await endOf(own, id)).toMatchObject({ status: 'FAILED', errorCode: 'SERVICE_UNAVAILABLE' });
});

test('what ran when the service was killed is ended by the next start', async () => {
  const own = await newAccount();
  const id = await sendHeld(own);
  await service.end('SIGKILL');
  await start(service.dataDir);
  expect(await endOf(own, id)).toMatchObject({ status: 'TIMEOUT', creditsCharged: 0 });
  await own.expectCharged(0);
});
