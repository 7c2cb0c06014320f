import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pointSdkAt } from '../../../local/environment.ts';
import { listen, type RunningServer } from '../../../local/http/server.ts';
import { createObjectStore } from '../../../local/s3/server.ts';
import { objectStore, type ObjectStore } from '../../../shared/images/object-store.ts';
import { previewCacheControl } from '../../../shared/images/previews.ts';
import { systemClock } from '../../../shared/base/clock.ts';
import { credentials, region } from '../local/s3/support.ts';

const minuteMs = 60_000;
const quarterMs = Date.UTC(2026, 10, 24, 13, 15);
const of = { licenseId: 'lic_1', requestId: 'r' };
const headers = { 'content-type': 'image/webp', 'cache-control': previewCacheControl };

let nowMs = quarterMs;
let folder: string;
let server: RunningServer;
let objects: ObjectStore;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'preview-links-'));
  const clock = () => new Date(nowMs);
  const { handle } = await createObjectStore({ folder, bucketName: 'images', credentials, region, clock });
  server = await listen(createServer((req, res) => void handle(req, res)));
  pointSdkAt({ region, ...credentials, dynamoDbUrl: server.url, s3Url: server.url });
  objects = objectStore('images', { clock: { ...systemClock, now: () => nowMs } });
});

afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

async function linkAt(ms: number): Promise<string> {
  nowMs = ms;
  return objects.previewLink(of, 0);
}

async function statusAt(ms: number, link: string): Promise<number> {
  nowMs = ms;
  return (await fetch(link)).status;
}

async function put(sent: Record<string, string>): Promise<number> {
  nowMs = Date.now();
  const link = await objects.previewPutLink(of, 0, 60);
  return (await fetch(link, { method: 'PUT', body: 'preview', headers: sent })).status;
}

test('a preview is put with its type and its Cache-Control, and with nothing else', async () => {
  expect(await put({ 'content-type': 'image/webp' })).toBe(403);
  expect(await put({ ...headers, 'cache-control': 'no-store' })).toBe(403);
  expect(await put({ ...headers, 'content-type': 'image/png' })).toBe(403);
  expect(await put(headers)).toBe(200);

  const answer = await fetch(await objects.previewLink(of, 0));
  expect(await answer.text()).toBe('preview');
  expect(Object.fromEntries(answer.headers)).toMatchObject(headers);
  expect(await objects.previewSize(of, 0, new AbortController().signal)).toBe(7);
});

test('its link is the same in each moment of a quarter of an hour, and another in the next', async () => {
  const link = await linkAt(quarterMs);
  expect(new URL(link).pathname).toBe('/images/generations/lic_1/r/preview-0.webp');
  expect(await linkAt(quarterMs + 15 * minuteMs - 1)).toBe(link);
  expect(await linkAt(quarterMs - 1)).not.toBe(link);
  expect(await linkAt(quarterMs + 15 * minuteMs)).not.toBe(link);
});

test('its link opens for 45 minutes at least, whenever it was signed, and for an hour at most', async () => {
  await put(headers);
  const last = quarterMs + 15 * minuteMs - 1;
  for (const signedMs of [quarterMs, last]) {
    const link = await linkAt(signedMs);
    expect(await statusAt(signedMs, link)).toBe(200);
    expect(await statusAt(last + 45 * minuteMs, link)).toBe(200);
    expect(await statusAt(quarterMs + 60 * minuteMs + 1000, link)).toBe(403);
  }
});
