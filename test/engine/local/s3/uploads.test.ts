import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile, truncate, writeFile } from 'node:fs/promises';
import { Agent, request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { createPresignedPost, type PresignedPostOptions } from '@aws-sdk/s3-presigned-post';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createSigner } from '../../../../local/s3/signature.ts';
import { until } from '../../../support/until.ts';
import { survivesKills } from './properties.ts';
import {
  bucket,
  clientFor,
  credentials,
  errorCode,
  region,
  send,
  sendSigned,
  signHeaders,
  startStore,
  type RawRequest,
  type TestStore,
} from './support.ts';

let store: TestStore;
const maxObjectBytes = 2 * 1024 * 1024;
beforeAll(async () => void (store = await startStore({ maxObjectBytes })));
afterAll(() => store.close());

const path = `/${bucket}/uploaded`;
const unsigned = { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' };

describe('a body', () => {
  const sha256 = createHash('sha256').update('other').digest('hex');
  test.each<[string, Record<string, string>, number, object]>([
    ['whose SHA-256 was signed', {}, 10, { status: 200 }],
    ['that was left unsigned', unsigned, 10, { status: 200 }],
    ['other than was signed', { 'x-amz-content-sha256': sha256 }, 10, { code: 'XAmzContentSHA256Mismatch' }],
    ['with nonsense in place of its hash', { 'x-amz-content-sha256': 'x' }, 10, { code: 'InvalidArgument' }],
    ['that does not match its checksum', { 'x-amz-checksum-crc32': 'jNxd5w==' }, 10, { code: 'BadDigest' }],
    ['as large as the limit', {}, maxObjectBytes, { status: 200 }],
    ['larger than the limit', {}, maxObjectBytes + 1, { code: 'EntityTooLarge' }],
  ])('%s is judged, and a refused one leaves the store as it was', async (_what, headers, size, outcome) => {
    const before = store.files();
    const length = { 'content-length': String(size) };
    const sent = { method: 'PUT', path, headers: { ...length, ...headers }, body: Buffer.alloc(size) };
    const answer = await sendSigned(store.url, sent);
    expect(answer).toMatchObject(outcome);
    if (answer.status === 200) await store.remove('uploaded');
    expect(store.files()).toEqual(before);
  });

  test('must match the checksum in its link', async () => {
    // The SDK's default signs the checksum of an empty body, which is why the service asks for WHEN_REQUIRED.
    const link = await getSignedUrl(store.client, new PutObjectCommand({ Bucket: bucket, Key: 'summed' }));
    expect(errorCode(await (await fetch(link, { method: 'PUT', body: 'x' })).text())).toBe('BadDigest');
  });

  test('that breaks off half-way leaves the object as it was and no file behind', async () => {
    await store.put('kept', 'the old body');
    const files = store.files();
    const target = { method: 'PUT', path: `/${bucket}/kept` };
    const signed = await signHeaders(store.url, {
      ...target,
      headers: { 'content-length': '100000', ...unsigned },
    });
    const { hostname, port } = new URL(store.url);
    const socket = connect(Number(port), hostname);
    const lines = Object.entries(signed).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`PUT ${target.path} HTTP/1.1\r\n${lines.join('')}\r\n${'x'.repeat(50_000)}`);
    await until('it is being written', () => store.files().length === files.length + 1);
    socket.destroy();
    await until('it was cleared', () => store.files().length === files.length);
    expect((await sendSigned(store.url, { path: target.path })).body).toBe('the old body');
  });
});

test('whatever the refusal, the client reads it and its connection goes on to the next request', async () => {
  // One connection, which every request has to share.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ports = new Set<number | undefined>();
  const { hostname, port } = new URL(store.url);
  const piece = Buffer.alloc(1024 * 1024, 'x');
  const exchange = async (target: RawRequest, pieces: Buffer[] = []) => {
    const headers = await signHeaders(store.url, target);
    const sending = request({ hostname, port, agent, method: target.method, path: target.path, headers });
    for (const one of pieces) sending.write(one);
    sending.end();
    const [response] = (await once(sending, 'response')) as [IncomingMessage];
    ports.add(response.socket.localPort);
    return errorCode(await text(response));
  };
  const length = { 'content-length': String(4 * piece.length) };
  const refused: [Record<string, string>, string][] = [
    [{ ...length, ...unsigned }, 'EntityTooLarge'],
    [{ ...length, 'x-amz-acl': 'private' }, 'NotImplemented'],
    [{ ...length, 'x-amz-content-sha256': 'nonsense' }, 'InvalidArgument'],
    [{ 'transfer-encoding': 'chunked', ...unsigned }, 'MissingContentLength'],
  ];
  for (const [headers, code] of refused) {
    expect(await exchange({ method: 'PUT', path, headers }, [piece, piece, piece, piece])).toBe(code);
    expect(await exchange({ path: `/${bucket}?list-type=2` })).toBeUndefined();
  }
  expect(ports.size).toBe(1);
  agent.destroy();
});

test('a reader that leaves half-way disturbs nobody', async () => {
  await store.put('left', Buffer.alloc(maxObjectBytes));
  const link = await getSignedUrl(store.client, new GetObjectCommand({ Bucket: bucket, Key: 'left' }));
  await (await fetch(link)).body!.cancel();
  expect((await (await fetch(link)).arrayBuffer()).byteLength).toBe(maxObjectBytes);
});

test('an upload in parts is one object once it is complete, and nothing when it is aborted', async () => {
  const { client } = store;
  const before = store.files().length;
  const create = async (Key: string) => {
    const { UploadId } = await client.createMultipartUpload({ Bucket: bucket, Key, ContentType: 'a/b' });
    return { Bucket: bucket, Key, UploadId };
  };
  const sendPart = async (upload: Awaited<ReturnType<typeof create>>, PartNumber: number, Body: string) => {
    const { ETag } = await client.uploadPart({ ...upload, PartNumber, Body });
    return { PartNumber, ETag };
  };
  const whole = await create('joined');
  const [second, first] = [await sendPart(whole, 2, 'two'), await sendPart(whole, 1, 'one ')];
  const complete = (Parts: object[], upload = whole) =>
    client.completeMultipartUpload({ ...upload, MultipartUpload: { Parts } });
  await expect(complete([first, { PartNumber: 3, ETag: 'x' }])).rejects.toMatchObject({
    name: 'InvalidPart',
  });
  await expect(complete([first], { ...whole, Key: 'other' })).rejects.toMatchObject({ name: 'NoSuchUpload' });
  await complete([first, second]);
  const { Body, ContentType } = await store.get('joined');
  expect([await Body!.transformToString(), ContentType]).toEqual(['one two', 'a/b']);

  const aborted = await create('aborted');
  await sendPart(aborted, 1, 'one');
  await client.abortMultipartUpload(aborted);
  await expect(sendPart(aborted, 2, 'two')).rejects.toMatchObject({ name: 'NoSuchUpload' });
  await store.remove('joined');
  expect(store.files()).toHaveLength(before);
});

describe('what was stored', () => {
  test('survives a restart with its headers, and what was half-written is cleared', async () => {
    const { ETag } = await store.put('stays', 'the body', { ContentType: 'image/png' });
    const leftover = join(store.folder, '.incoming', 'leftover');
    await writeFile(leftover, 'half an ima');
    await store.restart();
    expect(store.files()).not.toContain(leftover);
    const answer = await store.get('stays');
    expect(answer).toMatchObject({ ContentType: 'image/png', ETag });
    expect(await answer.Body?.transformToString()).toBe('the body');
  });

  test('is no object rather than half of one once its file lost a part', async () => {
    const before = store.files();
    await store.put('cut', Buffer.alloc(5000, 'x'));
    const [file = ''] = store.files().filter((name) => !before.includes(name));
    const whole = await readFile(file);
    await writeFile(file, whole.subarray(1));
    for (const length of [5010, 4000, 5]) {
      await expect(store.get('cut')).rejects.toMatchObject({ name: 'NoSuchKey' });
      expect(await store.keys()).not.toContain('cut');
      await truncate(file, length);
    }
    await store.put('cut', 'whole again');
    expect((await store.get('cut')).ContentLength).toBe(11);
  });

  test('is the old object or the new one, whole, when the store is killed while it writes', async () => {
    await survivesKills(store, 2);
  }, 60_000);
});

describe('a form', () => {
  const Fields = { 'Content-Type': 'image/png' };
  /** As the service makes it; `client` signs it. */
  const formFor = (options: Partial<PresignedPostOptions> = {}, client = store.client) =>
    createPresignedPost(client, { Bucket: bucket, Key: 'form 1.png', Fields, ...options });

  /** Sends it as a browser does; a change to undefined leaves a field out. */
  async function submit(
    { url, fields }: Awaited<ReturnType<typeof formFor>>,
    file: Buffer | string = 'x',
    changes: Record<string, string | undefined> = {},
  ) {
    const body = new FormData();
    for (const [name, value] of Object.entries({ ...fields, ...changes })) {
      if (value !== undefined) body.append(name, value);
    }
    body.append('file', new File([file as string], 'photo.png'));
    const answer = await fetch(url, { method: 'POST', body });
    const xml = await answer.text();
    const [etag, location] = ['etag', 'location'].map((name) => answer.headers.get(name));
    return { status: answer.status, code: errorCode(xml), xml, etag, location };
  }

  test('uploads its file under its key with its content type', async () => {
    const body = randomBytes(100_000);
    const form = await formFor();
    const { status, etag, location } = await submit(form, body);
    const answer = await store.get('form 1.png');
    expect(body.equals(await answer.Body!.transformToByteArray())).toBe(true);
    expect({ status, ContentType: answer.ContentType, ETag: answer.ETag }).toEqual({
      status: 204,
      ContentType: 'image/png',
      ETag: etag,
    });
    expect(location).toBe(`${form.url}/form%201.png`);
    await store.remove('form 1.png');
  });

  test.each([
    [9, 400, 'EntityTooSmall'],
    [10, 204, undefined],
    [20, 204, undefined],
    [21, 400, 'EntityTooLarge'],
  ])(
    'takes a file within content-length-range, both ends included: %i bytes',
    async (bytes, status, code) => {
      const form = await formFor({ Conditions: [['content-length-range', 10, 20]] });
      expect(await submit(form, Buffer.alloc(bytes))).toMatchObject({ status, code });
    },
  );

  test.each([1, 100_000])("takes no file over the store's own limit: %i bytes more", async (more) => {
    const file = Buffer.alloc(maxObjectBytes + more);
    expect(await submit(await formFor(), file)).toMatchObject({ code: 'EntityTooLarge' });
  });

  test('works until its policy has expired', async () => {
    const form = await formFor({ Expires: 60 });
    const { expiration } = JSON.parse(Buffer.from(form.fields.Policy!, 'base64').toString());
    store.stopClock(new Date(expiration));
    expect((await submit(form)).status).toBe(204);
    store.stopClock(new Date(Date.parse(expiration) + 1));
    expect(await submit(form)).toMatchObject({ status: 403, xml: expect.stringContaining('Policy expired') });
    store.stopClock(null);
  });

  const policyOf = (policy: unknown) => Buffer.from(JSON.stringify(policy)).toString('base64');
  const expiration = '2099-01-01T00:00:00Z';
  test.each<[string, Record<string, string | undefined>, string]>([
    ['another key', { key: 'yours.png' }, 'AccessDenied'],
    ['another content type', { 'Content-Type': 'text/html' }, 'AccessDenied'],
    ['no content type', { 'Content-Type': undefined }, 'AccessDenied'],
    ['a field more', { 'x-amz-meta-owner': 'me' }, 'AccessDenied'],
    ['a looser policy', { Policy: policyOf({ expiration, conditions: [] }) }, 'SignatureDoesNotMatch'],
    ['no signature', { 'X-Amz-Signature': undefined }, 'SignatureDoesNotMatch'],
    ['no algorithm', { 'X-Amz-Algorithm': undefined }, 'AccessDenied'],
  ])('with %s is refused', async (_what, changes, code) => {
    const keys = await store.keys();
    expect(await submit(await formFor(), 'x', changes)).toMatchObject({ status: 403, code });
    expect(await store.keys()).toEqual(keys);
  });

  test('to another bucket, or signed by someone else, is refused', async () => {
    const form = await formFor();
    expect(await submit({ ...form, url: `${store.url}/other` })).toMatchObject({ code: 'AccessDenied' });
    for (const other of [{ secretAccessKey: 'guessed' }, { accessKeyId: 'AKIDOTHER' }]) {
      const forged = await formFor({}, clientFor(store.url, other));
      expect(await submit(forged)).toMatchObject({ status: 403, code: 'SignatureDoesNotMatch' });
    }
  });

  test.each<[unknown, string]>([
    ['text', 'InvalidPolicyDocument'],
    [{ expiration }, 'InvalidPolicyDocument'],
    [{ conditions: [] }, 'AccessDenied'],
    [{ expiration: 'tomorrow', conditions: [] }, 'AccessDenied'],
    // None of its conditions names the fields.
    [{ expiration, conditions: [['content-length-range', 0, 9]] }, 'AccessDenied'],
    [{ expiration, conditions: [['content-length-range', 'a', 1]] }, 'EntityTooSmall'],
    [{ expiration, conditions: [['starts-with', '$key', '']] }, 'NotImplemented'],
  ])('with the signed policy %j is refused', async (policy, code) => {
    const Policy = policyOf(policy);
    const signer = createSigner({ credentials, region, clock: () => new Date() });
    const signature = await signer.sign(Policy, new Date());
    expect(await submit(await formFor(), 'x', { Policy, 'X-Amz-Signature': signature })).toMatchObject({
      code,
    });
  });

  test('that asks for what the store cannot do is refused by name', async () => {
    const refused = await submit(await formFor({ Fields: { success_action_redirect: 'x' } }));
    expect(refused).toMatchObject({ status: 501, xml: expect.stringContaining('success_action_redirect') });
  });

  test.each([
    ['nothing', 'multipart/form-data; boundary=b', 400, 'MalformedPOSTRequest'],
    ['x', 'multipart/form-data', 400, 'MalformedPOSTRequest'],
    [
      '--b\r\ncontent-disposition: form-data; name="key"\r\n\r\nx\r\n--b--\r\n',
      'multipart/form-data; boundary=b',
      400,
      'InvalidArgument',
    ],
    ['{}', 'application/json', 403, 'AccessDenied'],
  ])('is refused when it is none: %j', async (body, type, status, code) => {
    const headers = { 'content-type': type, 'content-length': String(body.length) };
    const sent = { method: 'POST', path: `/${bucket}`, headers, body };
    expect(await send(store.url, sent)).toMatchObject({ status, code });
  });
});
