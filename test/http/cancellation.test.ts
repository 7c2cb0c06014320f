import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { RunningServer } from '../../local/http/server.ts';
import { expectError, expectOk } from '../support/answers.ts';
import { lastEvent } from '../support/events.ts';
import type { ServiceFixture } from '../support/fixture.ts';
import { deliver, emit, startContainer } from '../fuzz/quick-container.ts';
import { issueKey, tableOf } from '../support/grants.ts';
import { copiesOf } from '../support/objects.ts';
import { removeFolder, startService, type ApiAnswer } from '../support/service.ts';
import { until } from '../support/until.ts';
import { samplePhoto, sendFile } from '../support/uploads.ts';
import { newAccount as accountOf, type Account } from './fixture.ts';

const service = {} as ServiceFixture;
let container: RunningServer;
/** Requests that the model ended because their link said so. */
const stopped: string[] = [];

/** It works on `held` until that is cancelled, and never begins `in line`; it delivers anything else at once. */
beforeAll(async () => {
  container = await startContainer(async (request, res) => {
    const { prompt, cancelUrl, requestId } = request;
    emit(res, prompt === 'in line' ? { event: 'queued', position: 2, etaSeconds: 9 } : { event: 'started' });
    if (!['held', 'in line'].includes(prompt)) return deliver(request, res);
    while (!res.destroyed && (await fetch(cancelUrl!)).status !== 200) await wait(50);
    stopped.push(requestId);
    emit(res, { event: 'failed', reason: 'cancelled', message: 'It was cancelled.' });
    res.end();
  });
  Object.assign(service, await startService({ args: ['--container', container.url] }));
  service.table = tableOf(service.dataDir);
});

afterAll(async () => {
  await service.end();
  await container.close();
  removeFolder(service.dataDir);
});

const newAccount = () => accountOf({}, service);
const cancel = ({ byKey }: Pick<Account, 'byKey'>, id: string, body?: unknown) =>
  byKey(`/generate/${id}/cancel`, { method: 'POST', body });
const prefer = { prefer: 'respond-async' };

/** @returns the id of the newest request, once it has the status. */
async function openId({ byKey }: Account, status: string): Promise<string> {
  let id = '';
  await until(`a request is ${status}`, async () => {
    const [newest] = (await byKey('/generate?limit=1')).body.generations;
    id = newest?.id;
    return newest?.status === status;
  });
  return id;
}

const identityId = () => service.ready.identities.aurora!;
type Wait = (own: Account, prompt: string) => Promise<{ said: unknown; headers?: Headers }>;
const plain = ({ status, body, headers }: ApiAnswer, code = body.code) => ({ said: [status, code], headers });

/** Each way to wait for an image, and what its caller hears. */
const ways: [name: string, Wait][] = [
  ['POST /generate', async ({ generate }, prompt) => plain(await generate({ prompt }))],
  ['the playground', async ({ play }, prompt) => plain(await play({ prompt }))],
  [
    "OpenAI's format",
    async ({ byKey }, prompt) => {
      const body = { model: 'aurora', prompt, size: '512x512' };
      const answer = await byKey('/openai/v1/images/generations', { body });
      return plain(answer, answer.body.error.code);
    },
  ],
  [
    'a stream',
    async ({ generate }, prompt) => {
      const { event, data } = lastEvent(
        (await generate({ prompt }, { accept: 'text/event-stream' })).body,
      ) as any;
      expect(event).toBe('failed');
      return { said: [data.status, data.code] };
    },
  ],
  [
    'an agent',
    async ({ tool }, prompt) => {
      const { isError, structuredContent } = await tool('generate', { identityId: identityId(), prompt });
      expect(isError).toBe(true);
      return { said: [400, structuredContent.code] };
    },
  ],
];

describe('POST /generate/{requestId}/cancel', () => {
  test('ends a request that is being made, uncharged, and stops the model; whoever waits hears it; the fifth counts', async () => {
    const own = await newAccount();
    for (const [, send] of ways) {
      const waiting = send(own, 'held');
      const id = await openId(own, 'PROCESSING');
      const cancelled = await cancel(own, id);
      expectOk(cancelled);
      const record = { id, status: 'FAILED', errorCode: 'CANCELLED', creditsCharged: 0, outputs: [] };
      expect(cancelled.body).toMatchObject(record);
      const { said, headers } = await waiting;
      expect(said).toEqual([400, 'CANCELLED']);
      if (headers)
        expect([headers.get('x-should-retry'), headers.get('x-request-id')]).toEqual(['false', id]);
      expect(stopped).toContain(id);
      expect(await own.stored(id)).toEqual(cancelled.body);
      await own.expectCharged(0);
    }
    const refused = await own.play({});
    expectError(refused, 429, 'RATE_LIMITED');
    expect(refused.body.error).toContain('5 cancelled after the model had begun');
  });

  test('ends what waits in line without counting it, and its references go', async () => {
    const own = await newAccount();
    const { body: upload } = await own.byKey('/uploads', { method: 'POST' });
    await sendFile(upload, await samplePhoto());
    const body = {
      identityId: service.ready.identities.citrine,
      prompt: 'in line',
      referenceImages: [{ uploadId: upload.uploadId }],
    };
    for (let i = 0; i < 6; i++) {
      const { requestId } = (await own.generate(body, { ...prefer, 'idempotency-key': 'once' })).body;
      expect(copiesOf(service.dataDir, own.license)).toHaveLength(1);
      const { startedAt, errorCode } = (await cancel(own, requestId)).body;
      expect([startedAt, errorCode]).toEqual([null, 'CANCELLED']);
      expect(copiesOf(service.dataDir, own.license)).toEqual([]);
    }
    await own.expectCharged(0);
  });

  test('answers the same again, and leaves what ended otherwise as it is', async () => {
    const own = await newAccount();
    const { requestId } = (await own.generate({ prompt: 'held' }, prefer)).body;
    const [first, second] = await Promise.all([cancel(own, requestId), cancel(own, requestId, {})]);
    expect([first.status, second.body]).toEqual([200, first.body]);
    expect((await cancel(own, requestId)).body).toEqual(first.body);
    const completed = (await own.generate()).body.requestId;
    // Each answer signs its links anew.
    const storedOf = async (id: string) =>
      JSON.stringify(await own.stored(id)).replaceAll(/\?X-Amz-[^"]*/g, '');
    const before = await storedOf(completed);
    const late = await cancel(own, completed);
    expectError(late, 409, 'REQUEST_FINAL');
    expect(late.body.error).toContain('COMPLETED');
    expect(await storedOf(completed)).toBe(before);
    await own.expectCharged(1);
  });

  test("is the owner's by session, and of a key with a budget for its own requests alone", async () => {
    const own = await newAccount();
    const send = async () => (await own.generate({ prompt: 'held' }, prefer)).body.requestId;
    expectOk(await cancel({ byKey: own.bySession }, await send()));
    const { key } = await issueKey(service.table, own.license, { monthlyCredits: 5 });
    const byKey: Account['byKey'] = (path, rest) => service.api({ path, key, ...rest });
    const others = await cancel({ byKey }, await send());
    expectError(others, 404, 'REQUEST_NOT_FOUND');
    expect(others.body.error).toContain('cancels only requests that it made');
    const sent = { body: { identityId: identityId(), prompt: 'held' }, headers: prefer };
    expectOk(await cancel({ byKey }, (await byKey('/generate', sent)).body.requestId));
  });

  test('takes no member, and nothing but an object', async () => {
    const own = await newAccount();
    const { requestId } = (await own.generate({ prompt: 'held' }, prefer)).body;
    expectError(await cancel(own, requestId, { why: 'x' }), 400, 'INVALID_PARAMETERS');
    expectError(await cancel(own, requestId, []), 400, 'INVALID_BODY');
    expectOk(await cancel(own, requestId));
  });

  test('and then deleting leaves nobody waiting', async () => {
    const own = await newAccount();
    const waiting = own.generate({ prompt: 'held' });
    const id = await openId(own, 'PROCESSING');
    await cancel(own, id);
    await own.byKey(`/generate/${id}`, { method: 'DELETE' });
    // Whichever came first.
    expect(['CANCELLED', 'REQUEST_NOT_FOUND']).toContain((await waiting).body.code);
    await own.expectCharged(0);
  });
});
