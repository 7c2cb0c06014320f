import { randomBytes } from 'node:crypto';
import { rename } from 'node:fs/promises';
import { relative } from 'node:path';
import { GetObjectCommand, HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { keepsAnyKey, roundTrip } from './properties.ts';
import { bucket, send, sendSigned, startStore, type RawAnswer, type TestStore } from './support.ts';

let store: TestStore;
beforeAll(async () => void (store = await startStore()));
afterAll(() => store.close());

test('an object comes back with its bytes and its headers, until another replaces both or it is deleted', async () => {
  const body = randomBytes(1_500_000);
  const headers = { ContentType: 'image/png', CacheControl: 'max-age=60' };
  const startedMs = Date.now();
  const { ETag } = await store.put('one.png', body, headers);
  const answer = await store.get('one.png');
  expect(body.equals(await answer.Body!.transformToByteArray())).toBe(true);
  const head = await store.client.headObject({ Bucket: bucket, Key: 'one.png' });
  for (const of of [answer, head]) expect(of).toMatchObject({ ...headers, ETag, ContentLength: body.length });
  // HTTP's dates have whole seconds.
  expect(head.LastModified!.getTime()).toBeGreaterThan(startedMs - 1000);

  await store.put('one.png', Buffer.alloc(0));
  const { ContentLength, CacheControl } = await store.get('one.png');
  expect([ContentLength, CacheControl]).toEqual([0, undefined]);
  for (const _ of [1, 2]) await store.remove('one.png');
  await expect(store.client.headObject({ Bucket: bucket, Key: 'one.png' })).rejects.toMatchObject({
    name: 'NotFound',
  });
});

test('a listing gives every key below a prefix once, in the order of its bytes', async () => {
  const keys = ['list/a-1', 'list/a/2', 'list/b', 'list/\uffee', 'list/😀'];
  for (const key of [...keys.toReversed(), 'listing-but-not-below']) await store.put(key, 'x');
  const page = await store.client.listObjectsV2({ Bucket: bucket, Prefix: 'list/' });
  expect(page).toMatchObject({ IsTruncated: false, KeyCount: keys.length });
  expect(page.Contents?.map(({ Key }) => Key)).toEqual(keys);
});

test('any key of up to 1024 bytes keeps its object apart and inside the folder', async () => {
  await keepsAnyKey(store, 25);
  const longest = 'ü'.repeat(512);
  await roundTrip(store, longest);
  await expect(store.put(`${longest}x`, 'x')).rejects.toMatchObject({ name: 'KeyTooLongError' });
  await store.put('../../../climbs', 'x');
  expect(await store.keys()).toContain('../../../climbs');
  for (const file of store.files()) expect(relative(store.folder, file)).toMatch(/^images\/[0-9a-f]{64}$/);
});

test.each([
  ['/../secret', 404, 'NoSuchBucket'],
  ['/.incoming/x', 404, 'NoSuchBucket'],
  [`/${bucket}/../../../etc/passwd`, 404, 'NoSuchKey'],
])('the path %s reaches nothing', async (path, status, code) => {
  expect(await sendSigned(store.url, { path })).toMatchObject({ status, code });
  expect(await send(store.url, { path: `${path}%ff` })).toMatchObject({ status: 400, code: 'InvalidURI' });
});

test('what the store does not do, it refuses by name', async () => {
  const target = { Bucket: bucket, Key: 'x' };
  const { client } = store;
  const refused: [Promise<unknown>, RegExp][] = [
    [client.listMultipartUploads({ Bucket: bucket }), /'uploads'/],
    [client.getObjectTagging(target), /'tagging'/],
    [client.listBuckets({}), /GET service/],
    [client.listObjects({ Bucket: bucket }), /version 1/],
    [store.get('x', { IfMatch: '"x"' }), /'if-match'/],
    [store.put('x', 'x', { Metadata: { a: '1' } }), /'x-amz-meta-a'/],
    [store.put('x', 'x', { IfNoneMatch: '*' }), /'if-none-match'/],
    [store.put('x', 'x', { ChecksumAlgorithm: 'CRC32C' }), /'x-amz-checksum-crc32c'/],
  ];
  for (const [sending, message] of refused) {
    await expect(sending).rejects.toMatchObject({
      $metadata: { httpStatusCode: 501 },
      message: expect.stringMatching(message),
    });
  }
});

test('an error says what went wrong in the form that S3 uses, and never repeats a signature', async () => {
  const answer = await sendSigned(store.url, { path: `/${bucket}/a%20%26b` });
  const id = answer.headers['x-amz-request-id'];
  expect(id).toMatch(/^[0-9A-F]{16}$/);
  expect(answer.body).toBe(
    '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>NoSuchKey</Code>' +
      '<Message>The specified key does not exist.</Message><Key>a &amp;b</Key>' +
      `<Resource>/${bucket}/a%20%26b</Resource><RequestId>${id}</RequestId></Error>`,
  );
  const link = await getSignedUrl(store.client, new HeadObjectCommand({ Bucket: bucket, Key: 'x' }));
  const wrong = await (await fetch(link)).text();
  expect(wrong).toContain('SignatureDoesNotMatch');
  expect(wrong).not.toMatch(/[0-9a-f]{64}|X-Amz-/i);
});

describe('a page of another origin', () => {
  const ofCors = ({ headers }: RawAnswer) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => /^(access-control-|vary$)/.test(name)));
  // As S3 sends them for the bucket of lib/constructs/image-bucket.ts.
  const allowed = {
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET, HEAD, POST',
    'access-control-expose-headers': 'etag',
    'access-control-max-age': '3600',
    vary: 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method',
  };
  const preflight = (headers: Record<string, string>) =>
    send(store.url, { method: 'OPTIONS', path: `/${bucket}`, headers });

  test.each([
    ['may', 'POST', 200, allowed],
    ['may not', 'PUT', 403, {}],
  ])('%s ask for %s, and read its refusal', async (_may, method, status, cors) => {
    const asked = { 'access-control-request-method': method, 'access-control-request-headers': 'x-a, x-b' };
    const may = await preflight({ origin: 'https://a.test', ...asked });
    expect(may.status).toBe(status);
    const headers = status === 200 ? { 'access-control-allow-headers': 'x-a, x-b' } : {};
    expect(ofCors(may)).toEqual({ ...cors, ...headers });
    const refused = await send(store.url, { method, path: `/${bucket}/x`, headers: { origin: 'null' } });
    expect([refused.status, ofCors(refused)]).toEqual([403, cors]);
  });

  test('reads by a link. Without an Origin no answer speaks of origins, so a kept one is of no use to pages', async () => {
    await store.put('seen', 'x');
    const link = await getSignedUrl(store.client, new GetObjectCommand({ Bucket: bucket, Key: 'seen' }));
    const { pathname, search } = new URL(link);
    const get = (headers = {}) => send(store.url, { path: pathname + search, headers });
    expect([(await get()).status, ofCors(await get())]).toEqual([200, {}]);
    expect(ofCors(await get({ origin: 'https://a.test' }))).toEqual(allowed);
    expect((await preflight({ origin: 'https://a.test' })).status).toBe(400);
  });
});

test('neither a request nor a refusal nor a fault writes a signature to a log', async () => {
  const logged: unknown[] = [];
  const note = (...args: unknown[]) => logged.push(args.map(String).join(' ')) > 0;
  const spies = [
    ...(['log', 'info', 'warn', 'error', 'debug'] as const).map((name) => jest.spyOn(console, name)),
    jest.spyOn(process.stdout, 'write'),
    jest.spyOn(process.stderr, 'write'),
  ].map((spy) => spy.mockImplementation(note as never));
  const broken = await startStore();
  try {
    // A store whose folder for uploads is gone fails by a fault of its own.
    await rename(`${broken.folder}/.incoming`, `${broken.folder}/moved`);
    for (const { url, client } of [store, broken]) {
      const target = { Bucket: bucket, Key: 'logged' };
      const link = await getSignedUrl(client, new PutObjectCommand(target));
      await fetch(link, { method: 'PUT', body: 'x' });
      await fetch(link, { method: 'DELETE' });
      const form = new FormData();
      const { fields } = await createPresignedPost(client, target);
      for (const [name, value] of Object.entries(fields)) form.append(name, value);
      await fetch(`${url}/${bucket}`, { method: 'POST', body: form });
      const { status } = await sendSigned(url, {
        method: 'PUT',
        path: `/${bucket}/logged`,
        headers: { 'content-length': '1' },
        body: 'x',
      });
      expect(status).toBe(url === broken.url ? 500 : 200);
    }
  } finally {
    for (const spy of spies) spy.mockRestore();
    await broken.close();
  }
  expect(logged.join('\n')).toContain('The object store failed on request');
  expect(logged.join('\n')).not.toMatch(/[0-9a-f]{64}|X-Amz-Signature|Authorization/i);
});
