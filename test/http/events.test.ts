import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Table } from '../../shared/store/table.ts';
import { grant, tableOf } from '../support/grants.ts';
import { removeFolder, startService, type RunningService } from '../support/service.ts';

let service: RunningService;
let table: Table;

beforeAll(async () => {
  service = await startService({ args: ['--deadline', '10'] });
  table = tableOf(service.dataDir);
});

afterAll(async () => {
  await service.end();
  removeFolder(service.dataDir);
});

interface ServerSentEvent {
  event: string;
  data: any;
  atMs: number;
}

async function open(key: string, identity: string, body: object = {}, headers: object = {}) {
  return fetch(`${service.ready.baseUrl}/generate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream', ...headers },
    body: JSON.stringify({ identityId: service.ready.identities[identity], prompt: 'x', ...body }),
  });
}

async function readEvents(response: Response): Promise<ServerSentEvent[]> {
  const events: ServerSentEvent[] = [];
  const decoder = new TextDecoder();
  let pending = '';
  for await (const chunk of response.body!) {
    pending += decoder.decode(chunk, { stream: true });
    const blocks = pending.split('\n\n');
    pending = blocks.pop()!;
    for (const block of blocks) {
      const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(block)!;
      events.push({ event: event!, data: JSON.parse(data!), atMs: Date.now() });
    }
  }
  expect(pending).toBe('');
  return events;
}

test('accepted, started, progress as it happens, then completed with the usual body', async () => {
  const { key } = await grant(table);
  const response = await open(key, 'harbor');
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const events = await readEvents(response);
  const requestId = response.headers.get('x-request-id');
  expect(events[0]).toMatchObject({ event: 'accepted', data: { requestId, creditsReserved: 1 } });
  expect(events[1]).toMatchObject({ event: 'started', data: {} });
  const progress = events.slice(2, -1);
  expect(progress.length).toBeGreaterThan(0);
  for (const { event, data } of progress) {
    expect([event, data.steps]).toEqual(['progress', 30]);
    expect(data.step).toBeGreaterThanOrEqual(0);
    expect(data.step).toBeLessThanOrEqual(30);
  }
  const last = events.at(-1)!;
  expect(last.event).toBe('completed');
  expect(Object.keys(last.data).sort()).toEqual(
    ['identity', 'outputs', 'processingTimeMs', 'referenceImagesUsed', 'requestId', 'seed', 'usage'].sort(),
  );
  expect((await fetch(last.data.outputs[0])).status).toBe(200);
  // The picture took about two seconds, and its beginning was told at the beginning.
  expect(last.atMs - events[1]!.atMs).toBeGreaterThan(1000);
});

test('a failure after acceptance is an event with the status it would have had', async () => {
  const { key } = await grant(table);
  const events = await readEvents(await open(key, 'flint'));
  expect(events.at(-1)).toMatchObject({ event: 'failed', data: { code: 'GENERATION_FAILED', status: 500 } });
  expect(typeof events.at(-1)!.data.error).toBe('string');
});

test('the deadline is an event too', async () => {
  const { key } = await grant(table);
  const events = await readEvents(await open(key, 'glacier'));
  expect(events.at(-1)).toMatchObject({ event: 'failed', data: { code: 'TIMEOUT', status: 504 } });
});

test('what is refused before acceptance is a plain answer', async () => {
  const { key } = await grant(table);
  const response = await open(key, 'aurora', { width: 1 });
  expect(response.status).toBe(400);
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(((await response.json()) as { code: string }).code).toBe('INVALID_PARAMETERS');
});

test('a replay is one completed event', async () => {
  const { key } = await grant(table);
  const headers = { 'idempotency-key': 'events' };
  const first = await readEvents(await open(key, 'aurora', {}, headers));
  const response = await open(key, 'aurora', {}, headers);
  expect(response.headers.get('idempotent-replayed')).toBe('true');
  const events = await readEvents(response);
  expect(events.map(({ event }) => event)).toEqual(['completed']);
  expect(events[0]!.data.requestId).toBe(first.at(-1)!.data.requestId);
});

test('a client that hangs up does not lose its image', async () => {
  const { key } = await grant(table);
  const response = await open(key, 'harbor');
  const requestId = response.headers.get('x-request-id');
  await response.body!.cancel();
  const untilMs = Date.now() + 12_000;
  let stored;
  do {
    await new Promise((resolve) => setTimeout(resolve, 300));
    stored = await service.api({ path: `/generate/${requestId}`, key });
  } while (stored.body.status !== 'COMPLETED' && Date.now() < untilMs);
  expect(stored.body).toMatchObject({ status: 'COMPLETED', creditsCharged: 1 });
});
