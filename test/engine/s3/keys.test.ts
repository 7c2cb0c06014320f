import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { TestStore } from './support.ts';
import { bucket, send, sendSigned, startStore } from './support.ts';

let outside: string;
let store: TestStore;
beforeAll(async () => {
  outside = await mkdtemp(join(tmpdir(), 's3-keys-'));
  await writeFile(join(outside, 'secret'), 'not an object');
  store = await startStore({ folder: join(outside, 'a', 'b', 'c') });
});
afterAll(async () => {
  await store.close();
  await rm(outside, { recursive: true });
});

const awkward = [
  '..',
  '.',
  '',
  ' ',
  'a',
  '%2F',
  '%',
  '%2e%2e',
  '+',
  '?',
  '#',
  '&x=1',
  '\\',
  '..\\..',
  'C:',
  '~',
  "it's",
];
const more = [
  '<b>',
  '"',
  'ü',
  'u\u0308',
  '日本',
  '😀',
  '\u0000',
  '\n',
  '\r\n',
  '\t',
  '\uffee',
  '*()!',
  'a.png',
  ';',
  ',',
];
const segment = fc.oneof(fc.constantFrom(...awkward, ...more), fc.string({ unit: 'binary', maxLength: 30 }));
const anyKey = fc
  .array(segment, { minLength: 1, maxLength: 8 })
  .map((segments) => segments.join('/'))
  .filter((key) => key !== '' && Buffer.byteLength(key) <= 1024);

async function filesOutsideTheBucket(): Promise<string[]> {
  const entries = await readdir(outside, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const inBucket = new RegExp(`^a/b/c/${bucket}/[0-9a-f]{64}$`);
  return files.map((file) => relative(outside, file)).filter((file) => !inBucket.test(file));
}

async function roundTrip(Key: string): Promise<void> {
  const target = { Bucket: bucket, Key };
  const body = Buffer.from(`body of ${Key}`);
  await store.client.send(new PutObjectCommand({ ...target, Body: body }));
  const answer = await store.client.send(new GetObjectCommand(target));
  expect(Buffer.from((await answer.Body?.transformToByteArray()) ?? [])).toEqual(body);
  const listing = new ListObjectsV2Command({ Bucket: bucket, EncodingType: 'url' });
  const { Contents = [] } = await store.client.send(listing);
  expect(Contents.map((object) => decodeURIComponent(object.Key ?? ''))).toEqual([Key]);
  await store.client.send(new DeleteObjectCommand(target));
}

test('any key keeps its object apart and inside the folder', async () => {
  await fc.assert(fc.asyncProperty(anyKey, roundTrip), { numRuns: 150 });
  expect(await filesOutsideTheBucket()).toEqual(['secret']);
}, 60_000);

test('a plain listing gives back keys that XML has to escape', async () => {
  const keys = [
    'a&b<c>"d"\'e',
    'line\nbreak\rreturn\ttab',
    'ü/日本/😀',
    'percent%2Fplus+space ',
    '../up/./here//',
  ];
  for (const Key of keys) await store.client.send(new PutObjectCommand({ Bucket: bucket, Key, Body: 'x' }));
  const { Contents = [] } = await store.client.send(new ListObjectsV2Command({ Bucket: bucket }));
  expect(new Set(Contents.map(({ Key }) => Key))).toEqual(new Set(keys));
  for (const Key of keys) await store.client.send(new DeleteObjectCommand({ Bucket: bucket, Key }));
});

test('a link to an awkward key opens in a browser', async () => {
  for (const Key of ['a+b c&d=e?f#g/ü 😀.png', "it's (1)!*.png", '100%/%2F.png', 'a//b/']) {
    await store.client.send(new PutObjectCommand({ Bucket: bucket, Key, Body: Key }));
    const answer = await fetch(
      await getSignedUrl(store.client, new GetObjectCommand({ Bucket: bucket, Key })),
    );
    expect(await answer.text()).toBe(Key);
    await store.client.send(new DeleteObjectCommand({ Bucket: bucket, Key }));
  }
});

test('a slash of a key may come encoded, but its encoding is not decoded twice', async () => {
  await store.client.send(new PutObjectCommand({ Bucket: bucket, Key: 'x/y z', Body: 'one' }));
  const link = await getSignedUrl(store.client, new GetObjectCommand({ Bucket: bucket, Key: 'x/y z' }));
  expect(await (await fetch(link.replace('x/y', 'x%2Fy'))).text()).toBe('one');
  expect((await fetch(link.replace('x/y', 'x%252Fy'))).status).toBe(403);
  expect((await fetch(link.replace('y%20z', 'y+z'))).status).toBe(403);
  await store.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'x/y z' }));
});

test('a path that climbs out of the bucket reaches nothing', async () => {
  const climbs = ['../../../secret', '..%2f..%2f..%2fsecret', '%2e%2e/%2e%2e/%2e%2e/secret', '/etc/passwd'];
  const { host } = new URL(store.url);
  for (const climb of climbs) {
    const path = `/${bucket}/${climb}`;
    expect(await send(store.url, { path, headers: { host } })).toMatchObject({ status: 403 });
    const signedPath = `/${bucket}/${decodeURIComponent(climb)}`;
    const answer = await sendSigned(store.url, { path: signedPath });
    expect(answer).toMatchObject({ status: 404, code: 'NoSuchKey' });
  }
  expect(await sendSigned(store.url, { path: '/../secret' })).toMatchObject({
    status: 404,
    code: 'NoSuchBucket',
  });
  expect(await sendSigned(store.url, { path: '/.incoming/x' })).toMatchObject({
    status: 404,
    code: 'NoSuchBucket',
  });
});

test('a key may have 1024 bytes and no more', async () => {
  const longest = 'ü'.repeat(512);
  await roundTrip(longest);
  await expect(roundTrip(`${longest}x`)).rejects.toMatchObject({ name: 'KeyTooLongError' });
});

test('a path that is no UTF-8 is refused', async () => {
  for (const path of [`/${bucket}/%ff`, `/${bucket}/%`, `/${bucket}/%zz`]) {
    expect(await send(store.url, { path })).toMatchObject({ status: 400, code: 'InvalidURI' });
  }
});
