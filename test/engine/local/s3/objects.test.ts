import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { GetObjectCommand, HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { keepsAnyKey, roundTrip } from './properties.ts';
import {
  bucket,
  send,
  sendSigned,
  startStore,
  type RawAnswer,
  type TestStore,
  clientFor,
  submit,
} from './support.ts';

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

const failure = (sending: Promise<unknown>) =>
  sending.then(
    () => ({ name: 'nothing failed' }),
    (error: { name: string; message: string; $metadata: { httpStatusCode: number } }) => error,
  );

test('an object comes back with its bytes and its headers', async () => {
  const body = randomBytes(1_500_000);
  const headers = { ContentType: 'image/png', CacheControl: 'max-age=60' };
  const startedMs = Date.now();
  const { ETag } = await store.put('generated/one.png', body, headers);
  const answer = await store.get('generated/one.png');
  expect(body.equals((await answer.Body?.transformToByteArray()) ?? Buffer.alloc(0))).toBe(true);
  expect(answer).toMatchObject({ ...headers, ETag, ContentLength: body.length });
  const head = await store.client.headObject({ Bucket: bucket, Key: 'generated/one.png' });
  expect(head).toMatchObject({ ...headers, ETag, ContentLength: body.length });
  // HTTP's dates have whole seconds.
  expect(head.LastModified!.getTime()).toBeGreaterThan(startedMs - 1000);
  expect(head.LastModified!.getTime()).toBeLessThanOrEqual(Date.now());
  await store.remove('generated/one.png');
});

test('a later put replaces everything, a delete leaves nothing and may be repeated', async () => {
  await store.put('replace', 'first, longer', { CacheControl: 'no-store' });
  await store.put('replace', Buffer.alloc(0));
  const { Body, CacheControl } = await store.get('replace');
  expect([await Body?.transformToString(), CacheControl]).toEqual(['', undefined]);
  for (const _ of [1, 2]) await store.remove('replace');
  const missing = { name: 'NoSuchKey', $metadata: { httpStatusCode: 404 } };
  expect(await failure(store.get('replace'))).toMatchObject(missing);
  const head = store.client.headObject({ Bucket: bucket, Key: 'replace' });
  expect(await failure(head)).toMatchObject({ name: 'NotFound' });
});

test('a listing gives every key below a prefix once, in the order of its bytes, whatever XML must escape', async () => {
  const keys = ['list/\uffee', 'list/😀', 'list/b', 'list/B', 'list/a/2', 'list/a-1', 'list/a&b<c>"d"\'e\n'];
  for (const key of [...keys, 'listing-but-not-below']) await store.put(key, 'x');
  const page = await store.client.listObjectsV2({ Bucket: bucket, Prefix: 'list/' });
  expect(page).toMatchObject({ IsTruncated: false, KeyCount: keys.length });
  const sorted = keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  expect(page.Contents?.map(({ Key }) => Key)).toEqual(sorted);
  for (const key of [...keys, 'listing-but-not-below']) await store.remove(key);
});

test('any key keeps its object apart and inside the folder', async () => {
  await keepsAnyKey(store, 25);
  const entries = await readdir(outside, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const inBucket = new RegExp(`^a/b/c/${bucket}/[0-9a-f]{64}$`);
  const others = files.map((file) => relative(outside, file)).filter((file) => !inBucket.test(file));
  expect(others).toEqual(['secret']);
});

test('a key may have 1024 bytes and no more', async () => {
  const longest = 'ü'.repeat(512);
  await roundTrip(store, longest);
  expect(await failure(store.put(`${longest}x`, 'x'))).toMatchObject({ name: 'KeyTooLongError' });
});

test('a path that climbs out of the bucket reaches nothing', async () => {
  const climbs = ['../../../secret', '..%2f..%2f..%2fsecret', '%2e%2e/%2e%2e/%2e%2e/secret', '/etc/passwd'];
  const { host } = new URL(store.url);
  for (const climb of climbs) {
    const path = `/${bucket}/${climb}`;
    expect(await send(store.url, { path, headers: { host } })).toMatchObject({ status: 403 });
    const answer = await sendSigned(store.url, { path: `/${bucket}/${decodeURIComponent(climb)}` });
    expect(answer).toMatchObject({ status: 404, code: 'NoSuchKey' });
  }
  for (const path of ['/../secret', '/.incoming/x', '/no-such-bucket/x']) {
    expect(await sendSigned(store.url, { path })).toMatchObject({ status: 404, code: 'NoSuchBucket' });
  }
  for (const path of [`/${bucket}/%ff`, `/${bucket}/%`]) {
    expect(await send(store.url, { path })).toMatchObject({ status: 400, code: 'InvalidURI' });
  }
});

test('what the store does not do, it refuses by name', async () => {
  const target = { Bucket: bucket, Key: 'x' };
  const { client } = store;
  const refused: [Promise<unknown>, RegExp][] = [
    [client.createMultipartUpload(target), /POST object\?uploads/],
    [client.headBucket({ Bucket: bucket }), /501|UnknownError/],
    [client.getObjectTagging(target), /'tagging'/],
    [client.listBuckets({}), /GET service/],
    [client.listObjects({ Bucket: bucket }), /version 1/],
    [client.listObjectsV2({ Bucket: bucket, Delimiter: '/' }), /'delimiter'/],
    [store.get('x', { ResponseContentType: 'text/html' }), /'response-content-type'/],
    [store.get('x', { IfMatch: '"x"' }), /'if-match'/],
    [store.put('x', 'x', { ACL: 'public-read' }), /'x-amz-acl'/],
    [store.put('x', 'x', { Metadata: { a: '1' } }), /'x-amz-meta-a'/],
    [store.put('x', 'x', { IfNoneMatch: '*' }), /'if-none-match'/],
    [store.put('x', 'x', { ChecksumAlgorithm: 'CRC32C' }), /'x-amz-checksum-crc32c'/],
  ];
  for (const [sending, name] of refused) {
    const error = await failure(sending);
    expect(error).toMatchObject({ $metadata: { httpStatusCode: 501 } });
    expect(error).toMatchObject({ message: expect.stringMatching(name) });
  }
  // As the SDK sends a stream: in chunks, with a checksum at the end.
  const headers = { 'content-length': '1', 'x-amz-trailer': 'x-amz-checksum-crc32' };
  const chunked = { method: 'PUT', path: `/${bucket}/x`, headers, body: 'x' };
  expect(await sendSigned(store.url, chunked)).toMatchObject({ status: 501, code: 'NotImplemented' });
  expect(await failure(store.get('x'))).toMatchObject({ name: 'NoSuchKey' });
});

test('an error says what went wrong in the form that S3 uses, and never repeats a signature', async () => {
  const answer = await sendSigned(store.url, { path: `/${bucket}/a%20%26b` });
  expect(answer).toMatchObject({ status: 404, headers: { 'content-type': 'application/xml' } });
  const id = answer.headers['x-amz-request-id'];
  expect(id).toMatch(/^[0-9A-F]{16}$/);
  expect(answer.body.toString()).toBe(
    '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>NoSuchKey</Code>' +
      '<Message>The specified key does not exist.</Message><Key>a &amp;b</Key>' +
      `<Resource>/${bucket}/a%20%26b</Resource><RequestId>${id}</RequestId></Error>`,
  );
  const link = await getSignedUrl(store.client, new HeadObjectCommand({ Bucket: bucket, Key: 'x' }));
  const wrong = await (await fetch(link)).text();
  expect(wrong).toContain('SignatureDoesNotMatch');
  expect(wrong).not.toMatch(/[0-9a-f]{64}|X-Amz-/i);
  const head = await sendSigned(store.url, { method: 'HEAD', path: `/${bucket}/nothing` });
  expect([head.status, head.body.length]).toEqual([404, 0]);
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

  test.each(['GET', 'HEAD', 'POST'])('may ask for %s, and use it, and read its refusal', async (method) => {
    const asked = { 'access-control-request-method': method, 'access-control-request-headers': 'x-a, x-b' };
    const may = await preflight({ origin: 'https://a.test', ...asked });
    expect(may.status).toBe(200);
    expect(ofCors(may)).toEqual({ ...allowed, 'access-control-allow-headers': 'x-a, x-b' });
    const refused = await send(store.url, { method, path: `/${bucket}/x`, headers: { origin: 'null' } });
    expect(refused.status).toBeGreaterThanOrEqual(400);
    expect(ofCors(refused)).toEqual(allowed);
  });

  test.each(['PUT', 'DELETE', 'PATCH'])('may not ask for %s', async (method) => {
    const may = await preflight({ origin: 'https://a.test', 'access-control-request-method': method });
    expect(may).toMatchObject({ status: 403, code: 'AccessForbidden' });
    const sent = await send(store.url, {
      method,
      path: `/${bucket}/x`,
      headers: { origin: 'https://a.test' },
    });
    expect([ofCors(may), ofCors(sent)]).toEqual([{}, {}]);
  });

  test('alone is told so: without an Origin no answer speaks of it, so a kept one is of no use to pages', async () => {
    await store.put('seen', 'x');
    const link = await getSignedUrl(store.client, new GetObjectCommand({ Bucket: bucket, Key: 'seen' }));
    const { pathname, search } = new URL(link);
    const get = (headers = {}) => send(store.url, { path: pathname + search, headers });
    expect([(await get()).status, ofCors(await get())]).toEqual([200, {}]);
    expect(ofCors(await get({ origin: 'https://a.test' }))).toEqual(allowed);
    for (const headers of [{}, { origin: 'https://a.test' }])
      expect(await preflight(headers)).toMatchObject({ status: 400 });
  });
});

test('neither a request nor a refusal nor a fault writes a signature to a log', async () => {
  const logged: unknown[] = [];
  const spies = [
    ...(['log', 'info', 'warn', 'error', 'debug'] as const).map((name) => jest.spyOn(console, name)),
    jest.spyOn(process.stdout, 'write'),
    jest.spyOn(process.stderr, 'write'),
  ];
  for (const spy of spies) {
    spy.mockImplementation((...args: unknown[]) => {
      logged.push(args.map(String).join(' '));
      return true;
    });
  }
  // A store whose folder for uploads is gone fails by a fault of its own.
  const broken = await startStore();
  try {
    for (const { url, folder } of [store, broken]) {
      if (folder === broken.folder) await rename(`${folder}/.incoming`, `${folder}/moved`);
      const link = await getSignedUrl(store.client, new PutObjectCommand({ Bucket: bucket, Key: 'logged' }));
      await fetch(link, { method: 'PUT', body: 'x' });
      await fetch(link, { method: 'DELETE' });
      await submit(await createPresignedPost(clientFor(url), { Bucket: bucket, Key: 'logged' }), 'x');
      const faulty = await sendSigned(url, { method: 'PUT', path: `/${bucket}/logged`, body: 'x' });
      expect(faulty.status).toBe(folder === broken.folder ? 500 : 200);
    }
  } finally {
    for (const spy of spies) spy.mockRestore();
    await broken.close();
  }
  expect(logged.join('\n')).toContain('The object store failed on request');
  expect(logged.join('\n')).not.toMatch(/[0-9a-f]{64}|X-Amz-Signature|Authorization/i);
});
