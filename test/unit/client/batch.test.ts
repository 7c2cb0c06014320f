import { rmSync, appendFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, jest, test } from '@jest/globals';
import {
  batchFile,
  createClient,
  type BatchEntry,
  type BatchOptions,
} from '../../../clients/typescript/src/index.ts';
import { answer } from '../../support/generation-run.ts';
import { apiKey, baseUrl, useFakeTimers } from './fixture.ts';

useFakeTimers();

const lines = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    identityId: 'idn_1',
    prompt: i % 2 ? 'the same' : `line ${i + 1}`,
  }));
const respond = (status: number, body: object, headers: Record<string, string> = {}): Response =>
  Response.json(body, { status, headers });

/** A service that takes ten requests in any minute and three at once, makes an image in 4 s, and knows a key's image for a day. */
function startService({
  refuses = (_prompt: string): boolean => false,
  onCharge = (_charges: number): unknown => null,
  busyUntilMs = 0,
} = {}) {
  const made = new Map<string, { requestId: string; atMs: number }>();
  const seen = { charges: 0, refusals: 0, most: 0, prompts: [] as string[] };
  const accepted: number[] = [];
  let inFlight = 0;
  const generate = async (
    key: string,
    { prompt }: { prompt: string },
    signal: AbortSignal,
  ): Promise<Response> => {
    const nowMs = Date.now();
    if (
      accepted.filter((atMs) => atMs > nowMs - 60_000).length >= 10 ||
      inFlight >= 3 ||
      nowMs < busyUntilMs
    ) {
      seen.refusals += 1;
      return respond(429, { error: 'Wait.', code: 'RATE_LIMITED' }, { 'retry-after': '5' });
    }
    accepted.push(nowMs);
    if (refuses(prompt)) return respond(400, { error: 'No.', code: 'INVALID_PARAMETERS' });
    const known = made.get(key);
    if (known === undefined || known.atMs < nowMs - 86_400_000) {
      made.set(key, { requestId: `req_${made.size + 1}`, atMs: nowMs });
      onCharge((seen.charges += 1));
      seen.prompts.push(prompt);
    }
    seen.most = Math.max(seen.most, (inFlight += 1));
    await new Promise((resolve) => setTimeout(resolve, 4000));
    inFlight -= 1;
    signal.throwIfAborted();
    return respond(200, { ...answer, requestId: made.get(key)!.requestId });
  };
  const key = () => ({
    license: { maxInFlight: 3 },
    maxInFlight: null,
    requests: { perMinute: 10, remaining: 10 - accepted.length, resetSeconds: 60 },
  });
  const fetch = async (url: string, { headers, body, signal }: any): Promise<Response> => {
    signal.throwIfAborted();
    if (url.endsWith('/key')) return respond(200, key());
    return generate(headers.get('idempotency-key'), JSON.parse(body), signal);
  };
  const client = createClient({ apiKey, baseUrl, fetch: fetch as typeof globalThis.fetch });
  return { client, seen };
}

const digest = crypto.subtle.digest.bind(crypto.subtle);
const digests = new Set<Promise<unknown>>();
beforeEach(() => {
  const counted = (...of: Parameters<typeof digest>) => {
    const one = digest(...of).finally(() => digests.delete(one));
    digests.add(one);
    return one;
  };
  jest.spyOn(crypto.subtle, 'digest').mockImplementation(counted);
});

/** Digests take no time, whatever the machine is busy with. */
async function ended<T>(promise: Promise<T>, stepMs = 200): Promise<any> {
  const outcomes: unknown[] = [];
  const keep = (value: unknown): void => void outcomes.push(value);
  promise.then(keep, keep);
  while (outcomes.length === 0) {
    do await new Promise((resolve) => setImmediate(resolve));
    while (digests.size > 0);
    await jest.advanceTimersByTimeAsync(stepMs);
  }
  await jest.advanceTimersByTimeAsync(10_000);
  return outcomes[0];
}

function optionsOf(change: Partial<BatchOptions> = {}) {
  const ids: string[] = [];
  const options: BatchOptions = {
    batchId: 'spring',
    store: new Map<string, BatchEntry>(),
    onResult: ({ result }) => void (result && ids.push(result.requestId)),
    ...change,
  };
  return { options, ids };
}

test('a batch is as fast as ten a minute and three at once allow, and is not refused for it', async () => {
  const { client, seen } = startService();
  const { options, ids } = optionsOf();
  const startedMs = Date.now();
  const summary = await ended(client.batch(lines(35), options));
  expect(summary).toEqual({ completed: 35, failed: 0, skipped: 0, unknown: [] });
  expect([new Set(ids).size, seen.charges, seen.refusals, seen.most]).toEqual([35, 35, 0, 3]);
  expect(Date.now() - startedMs).toBeLessThan(220_000);
});

test('a batch rests as long as a busy service asks for', async () => {
  const { client, seen } = startService({ busyUntilMs: Date.now() + 4000 });
  expect(await ended(client.batch(lines(3), optionsOf().options))).toMatchObject({ completed: 3 });
  // No line is refused twice: after the rest of 5 s there is room.
  expect(seen.refusals).toBeLessThanOrEqual(3);
});

test('a batch that is cut off again and again charges each line once', async () => {
  const { client, seen } = startService();
  const { options, ids } = optionsOf();
  for (let kills = 0; kills < 12; kills++) {
    const killing = new AbortController();
    setTimeout(() => killing.abort(new Error('killed')), 1700 + 3300 * kills);
    await ended(client.batch(lines(20), { ...options, signal: killing.signal }), 100);
  }
  const { completed, skipped, failed, unknown } = await ended(client.batch(lines(20), options));
  expect([completed + skipped, failed, unknown]).toEqual([20, 0, []]);
  expect([new Set(ids).size, seen.charges]).toEqual([20, 20]);
  // Under another name they are another wish.
  await ended(client.batch(lines(2), { ...options, batchId: 'summer' }));
  expect(seen.charges).toBe(22);
});

test('a line that is refused does not end the batch, and what ends it does', async () => {
  const bad = startService({ refuses: (prompt) => prompt === 'line 3' });
  const outcomes: unknown[] = [];
  const { options } = optionsOf({ onResult: ({ line, error }) => outcomes.push([line, error?.message]) });
  expect(await ended(bad.client.batch(lines(5), options))).toMatchObject({ completed: 4, failed: 1 });
  expect(outcomes).toContainEqual([3, 'No.']);
  const full = new Error('the disk is full');
  const { client, seen } = startService();
  const onResult = (): never => {
    throw full;
  };
  expect(await ended(client.batch(lines(9), { ...optionsOf({ onResult }).options }))).toBe(full);
  // What was in flight ends, and nothing is begun.
  expect(seen.charges).toBe(3);
});

test('a line without a known end is sent again within a day; later it is named, and sent only if that is asked for', async () => {
  const path = join(tmpdir(), `batch-${process.pid}.state`);
  const crash = new AbortController();
  // In the middle of its only line.
  const { client, seen } = startService({ onCharge: (charges) => charges === 1 && crash.abort() });
  try {
    const { options } = optionsOf({ store: await batchFile(path) });
    await ended(client.batch(lines(1), { ...options, signal: crash.signal }));
    expect(seen.charges).toBe(1);
    // The machine stopped while it wrote.
    appendFileSync(path, '\n["torn", {"sta');
    await jest.advanceTimersByTimeAsync(86_400_000);
    const later = { ...options, store: await batchFile(path) };
    expect(await ended(client.batch(lines(1), later))).toMatchObject({ completed: 0, unknown: [1] });
    expect(seen.charges).toBe(1);
    expect(await ended(client.batch(lines(1), { ...later, again: true }))).toMatchObject({ completed: 1 });
    const summary = await ended(client.batch(lines(1), { ...options, store: await batchFile(path) }));
    expect([summary.skipped, seen.charges]).toEqual([1, 2]);
  } finally {
    rmSync(path, { force: true });
  }
});
