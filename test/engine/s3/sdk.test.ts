import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketLocationCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TestStore } from './support.ts';
import { bucket, credentials, region, startStore } from './support.ts';

let store: TestStore;
beforeAll(async () => void (store = await startStore()));
afterAll(() => store.close());

const put = (Key: string, Body: Buffer | string, more = {}) =>
  store.client.send(new PutObjectCommand({ Bucket: bucket, Key, Body, ...more }));
const get = (Key: string, more = {}) =>
  store.client.send(new GetObjectCommand({ Bucket: bucket, Key, ...more }));
const text = async (Key: string) => (await get(Key)).Body?.transformToString();
const failure = (sending: Promise<unknown>) =>
  sending.then(
    () => ({ name: 'nothing failed' }),
    (error: { name: string; message: string; $metadata: { httpStatusCode: number } }) => error,
  );

test('an object comes back with its bytes, its headers and its metadata', async () => {
  const body = randomBytes(1_500_000);
  const headers = {
    ContentType: 'image/png',
    CacheControl: 'max-age=60',
    Metadata: { seed: '7', owner: 'lic 1' },
  };
  const { ETag } = await put('generated/one.png', body, headers);
  const answer = await get('generated/one.png');
  expect(body.equals((await answer.Body?.transformToByteArray()) ?? Buffer.alloc(0))).toBe(true);
  expect(answer).toMatchObject({ ...headers, ETag, ContentLength: body.length, AcceptRanges: 'bytes' });
  const head = await store.client.send(new HeadObjectCommand({ Bucket: bucket, Key: 'generated/one.png' }));
  expect(head).toMatchObject({ ...headers, ETag, ContentLength: body.length });
  expect(Math.abs(Date.now() - (head.LastModified?.getTime() ?? 0))).toBeLessThan(5000);
});

test('the SDK uses path-style by itself for an endpoint that is an IP address', async () => {
  process.env['AWS_ENDPOINT_URL_S3'] = store.url;
  try {
    const client = new S3Client({ region, credentials });
    const seen: string[] = [];
    client.middlewareStack.add(
      (next) => (args) => {
        const request = args.request as { hostname: string; path: string };
        seen.push(`${request.hostname}${request.path}`);
        return next(args);
      },
      { step: 'finalizeRequest' },
    );
    await client.send(new PutObjectCommand({ Bucket: bucket, Key: 'style', Body: 'x' }));
    expect(seen).toEqual([`127.0.0.1/${bucket}/style`]);
  } finally {
    delete process.env['AWS_ENDPOINT_URL_S3'];
  }
});

test('a stream goes up in chunks with a checksum trailer, and only its bytes are stored', async () => {
  const body = randomBytes(300_000);
  const stream = Readable.from([body.subarray(0, 100_000), body.subarray(100_000)]);
  await store.client.send(
    new PutObjectCommand({ Bucket: bucket, Key: 'stream', Body: stream, ContentLength: body.length }),
  );
  const answer = await get('stream');
  expect(body.equals((await answer.Body?.transformToByteArray()) ?? Buffer.alloc(0))).toBe(true);
  expect(answer.ContentEncoding).toBeUndefined();
});

test('a later put replaces everything, a delete leaves nothing and may be repeated', async () => {
  await put('replace', 'first, longer', { Metadata: { version: '1' } });
  await put('replace', 'second');
  expect(await text('replace')).toBe('second');
  expect((await get('replace')).Metadata).toEqual({});
  for (const _ of [1, 2])
    await store.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'replace' }));
  expect(await failure(get('replace'))).toMatchObject({
    name: 'NoSuchKey',
    $metadata: { httpStatusCode: 404 },
  });
  const head = new HeadObjectCommand({ Bucket: bucket, Key: 'replace' });
  expect(await failure(store.client.send(head))).toMatchObject({ name: 'NotFound' });
});

test('an empty object is an object', async () => {
  await put('empty', Buffer.alloc(0));
  expect(await text('empty')).toBe('');
});

test('a range answers exactly those bytes, and one beyond the end is refused', async () => {
  await put('range', '0123456789');
  const range = async (Range: string) => {
    const answer = await get('range', { Range });
    return [await answer.Body?.transformToString(), answer.ContentRange, answer.$metadata.httpStatusCode];
  };
  expect(await range('bytes=0-0')).toEqual(['0', 'bytes 0-0/10', 206]);
  expect(await range('bytes=4-')).toEqual(['456789', 'bytes 4-9/10', 206]);
  expect(await range('bytes=-3')).toEqual(['789', 'bytes 7-9/10', 206]);
  expect(await range('bytes=8-99')).toEqual(['89', 'bytes 8-9/10', 206]);
  expect(await range('bytes=-99')).toEqual(['0123456789', 'bytes 0-9/10', 206]);
  expect(await range('lines=1-2')).toEqual(['0123456789', undefined, 200]);
  expect(await failure(get('range', { Range: 'bytes=10-' }))).toMatchObject({ name: 'InvalidRange' });
  expect(await failure(get('range', { Range: 'bytes=0-1,3-4' }))).toMatchObject({ name: 'NotImplemented' });
});

test('a reader that has the current version is not sent it again', async () => {
  const { ETag = '' } = await put('cached', 'body');
  const unchanged = await failure(get('cached', { IfNoneMatch: ETag }));
  expect(unchanged).toMatchObject({ $metadata: { httpStatusCode: 304 } });
  await put('cached', 'new body');
  expect((await get('cached', { IfNoneMatch: ETag })).$metadata.httpStatusCode).toBe(200);
  expect(await failure(get('cached', { IfMatch: ETag }))).toMatchObject({ name: 'PreconditionFailed' });
});

test('of many writers that want to be the first, exactly one is', async () => {
  const writes = Array.from({ length: 12 }, (_, index) =>
    put('once', `writer ${index}`, { IfNoneMatch: '*' }),
  );
  const outcomes = await Promise.allSettled(writes);
  const winners = outcomes.flatMap(({ status }, index) => (status === 'fulfilled' ? [index] : []));
  expect(winners).toHaveLength(1);
  expect(await text('once')).toBe(`writer ${winners[0]}`);
});

test('a copy has the bytes and, unless replaced, the metadata of its source', async () => {
  await put('source +ü.png', 'pixels', { ContentType: 'image/png', Metadata: { a: '1' } });
  const CopySource = `${bucket}/${encodeURIComponent('source +ü.png')}`;
  const copy = (Key: string, more = {}) =>
    store.client.send(new CopyObjectCommand({ Bucket: 'other', Key, CopySource, ...more }));
  await copy('kept');
  await copy('replaced', { MetadataDirective: 'REPLACE', ContentType: 'text/plain', Metadata: { b: '2' } });
  const read = async (Key: string) => {
    const answer = await store.client.send(new GetObjectCommand({ Bucket: 'other', Key }));
    return [await answer.Body?.transformToString(), answer.ContentType, answer.Metadata];
  };
  expect(await read('kept')).toEqual(['pixels', 'image/png', { a: '1' }]);
  expect(await read('replaced')).toEqual(['pixels', 'text/plain', { b: '2' }]);
  expect(await failure(copy('x', { CopySource: `${bucket}/nothing` }))).toMatchObject({ name: 'NoSuchKey' });
});

test('many objects are deleted by one request, whatever characters their keys hold', async () => {
  const keys = ['delete/<a>&"b"', "delete/'ü 😀", 'delete/line\nbreak', 'delete/plain'];
  for (const key of keys) await put(key, 'x');
  const Delete = { Objects: [...keys, 'delete/never-was'].map((Key) => ({ Key })) };
  const { Deleted } = await store.client.send(new DeleteObjectsCommand({ Bucket: bucket, Delete }));
  expect(Deleted?.map(({ Key }) => Key)).toEqual([...keys, 'delete/never-was']);
  const left = await store.client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: 'delete/' }));
  expect(left.KeyCount).toBe(0);
});

test('a listing gives every key once, in byte order, across pages', async () => {
  const keys = ['list/\uffee', 'list/😀', 'list/b', 'list/B', 'list/a/2', 'list/a/1', 'list/a-1', 'list/ü'];
  for (const key of [...keys, 'listing-but-not-below']) await put(key, 'x');
  const sorted = keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const found: (string | undefined)[] = [];
  let ContinuationToken: string | undefined;
  do {
    const input = { Bucket: bucket, Prefix: 'list/', MaxKeys: 3, ContinuationToken };
    const page = await store.client.send(new ListObjectsV2Command(input));
    found.push(...(page.Contents ?? []).map(({ Key }) => Key));
    expect(page.IsTruncated).toBe(page.NextContinuationToken !== undefined);
    ContinuationToken = page.NextContinuationToken;
  } while (ContinuationToken);
  expect(found).toEqual(sorted);
  const whole = new ListObjectsV2Command({ Bucket: bucket, Prefix: 'list/', MaxKeys: keys.length });
  expect(await store.client.send(whole)).toMatchObject({ IsTruncated: false, KeyCount: keys.length });
  const after = new ListObjectsV2Command({ Bucket: bucket, Prefix: 'list/', StartAfter: 'list/b' });
  const rest = (await store.client.send(after)).Contents?.map(({ Key }) => Key);
  expect(rest).toEqual(sorted.slice(sorted.indexOf('list/b') + 1));
});

test('a bucket is there or it is not', async () => {
  await store.client.send(new HeadBucketCommand({ Bucket: bucket }));
  const location = await store.client.send(new GetBucketLocationCommand({ Bucket: bucket }));
  expect(location.LocationConstraint).toBe(region);
  const missing = { Bucket: 'no-such-bucket', Key: 'x' };
  expect(await failure(store.client.send(new GetObjectCommand(missing)))).toMatchObject({
    name: 'NoSuchBucket',
  });
  const write = new PutObjectCommand({ ...missing, Body: 'x' });
  expect(await failure(store.client.send(write))).toMatchObject({ name: 'NoSuchBucket' });
});

test('what the store does not do, it refuses by name', async () => {
  const target = { Bucket: bucket, Key: 'x' };
  const refusal = async (sending: Promise<unknown>, name: string | RegExp) => {
    const error = await failure(sending);
    expect(error).toMatchObject({ name: 'NotImplemented', $metadata: { httpStatusCode: 501 } });
    expect(error).toMatchObject({ message: expect.stringMatching(name) });
  };
  await refusal(store.client.send(new CreateMultipartUploadCommand(target)), /POST object\?uploads/);
  await refusal(store.client.send(new GetObjectTaggingCommand(target)), /'tagging'/);
  await refusal(store.client.send(new ListBucketsCommand({})), /GET service/);
  await refusal(store.client.send(new ListObjectsCommand({ Bucket: bucket })), /GET bucket/);
  await refusal(
    store.client.send(new ListObjectsV2Command({ Bucket: bucket, Delimiter: '/' })),
    /'delimiter'/,
  );
  await refusal(put('acl', 'x', { ACL: 'public-read' }), /'x-amz-acl'/);
  await refusal(put('crc', 'x', { ChecksumAlgorithm: 'CRC32C' }), /'x-amz-checksum-crc32c'/);
});
