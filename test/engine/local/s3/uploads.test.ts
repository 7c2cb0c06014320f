import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile, truncate, writeFile } from 'node:fs/promises';
import { Agent, request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../../../support/until.ts';
import { survivesKills } from './properties.ts';
import {
  bucket,
  errorCode,
  sendSigned,
  signHeaders,
  startStore,
  unsignedPayload,
  type RawRequest,
  type TestStore,
} from './support.ts';

let store: TestStore;
const maxObjectBytes = 2 * 1024 * 1024;
const body = Buffer.alloc(100_000, 'image bytes ');
beforeAll(async () => void (store = await startStore({ maxObjectBytes })));
afterAll(() => store.close());

const path = `/${bucket}/uploaded`;

describe('a body', () => {
  /** Puts, and says whether anything was stored: a refusal must leave the store as it was. */
  async function put(headers: Record<string, string>, sent: Buffer = body) {
    const before = await store.files();
    const length = { 'content-length': String(sent.length) };
    const answer = await sendSigned(store.url, {
      method: 'PUT',
      path,
      headers: { ...length, ...headers },
      body: sent,
    });
    if (answer.status === 200) await sendSigned(store.url, { method: 'DELETE', path });
    expect(await store.files()).toEqual(before);
    return answer;
  }
  const crc = (data: Buffer) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(crc32(data));
    return bytes.toString('base64');
  };

  test('must be the one whose SHA-256 was signed', async () => {
    expect(await put({})).toMatchObject({ status: 200 });
    expect(await put(unsignedPayload)).toMatchObject({ status: 200 });
    const other = createHash('sha256').update('other').digest('hex');
    const mismatch = { status: 400, code: 'XAmzContentSHA256Mismatch' };
    expect(await put({ 'x-amz-content-sha256': other })).toMatchObject(mismatch);
    const nonsense = { 'x-amz-content-sha256': 'STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD' };
    expect(await put(nonsense)).toMatchObject({ status: 400, code: 'InvalidArgument' });
  });

  test('must match the checksum that came with it, in a header or in a link', async () => {
    const etag = `"${createHash('md5').update(body).digest('hex')}"`;
    expect(await put({ 'x-amz-checksum-crc32': crc(body) })).toMatchObject({
      status: 200,
      headers: { etag },
    });
    const wrong = await put({ 'x-amz-checksum-crc32': crc(Buffer.from('other')) });
    expect(wrong).toMatchObject({ status: 400, code: 'BadDigest' });
    // The SDK's default signs the checksum of an empty body, which is why the service asks for WHEN_REQUIRED.
    const link = await getSignedUrl(store.client, new PutObjectCommand({ Bucket: bucket, Key: 'summed' }));
    expect(errorCode(await (await fetch(link, { method: 'PUT', body: 'x' })).text())).toBe('BadDigest');
  });

  test('may be as large as the limit and no larger', async () => {
    expect(await put({}, Buffer.alloc(maxObjectBytes))).toMatchObject({ status: 200 });
    const large = await put({}, Buffer.alloc(maxObjectBytes + 1));
    expect(large).toMatchObject({ status: 400, code: 'EntityTooLarge' });
  });

  test('of unannounced length is refused', async () => {
    const headers = await signHeaders(store.url, { method: 'PUT', path, body: 'x' });
    // `fetch` sends a stream in chunks, without a Content-Length.
    const stream = new Response('x').body as ReadableStream;
    const answer = await fetch(store.url + path, { method: 'PUT', headers, body: stream, duplex: 'half' });
    expect(answer.status).toBe(411);
    expect(await answer.text()).toContain('<Code>MissingContentLength</Code>');
  });

  test('that breaks off half-way leaves the object as it was and no file behind', async () => {
    await store.put('kept', 'the old body');
    const files = await store.files();
    const target = { method: 'PUT', path: `/${bucket}/kept` };
    const headers = { 'content-length': String(body.length), ...unsignedPayload };
    const signed = await signHeaders(store.url, { ...target, headers });
    const { hostname, port } = new URL(store.url);
    const socket = connect(Number(port), hostname);
    const lines = Object.entries(signed).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`PUT ${target.path} HTTP/1.1\r\n${lines.join('')}\r\n`);
    socket.write(body.subarray(0, body.length / 2));
    await until('it is being written', async () => (await store.files()).length === files.length + 1);
    socket.destroy();
    await until('it was cleared', async () => (await store.files()).length === files.length);
    expect(await store.files()).toEqual(files);
    expect((await sendSigned(store.url, { path: target.path })).body.toString()).toBe('the old body');
  });
});

test('whatever the refusal, the client reads it and its connection goes on to the next request', async () => {
  // One connection, which every request has to share.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ports = new Set<number | undefined>();
  const { hostname, port } = new URL(store.url);
  const exchange = async (target: RawRequest, pieces: Buffer[] = []) => {
    const headers = await signHeaders(store.url, target);
    const sending = request({ hostname, port, agent, method: target.method, path: target.path, headers });
    for (const piece of pieces) sending.write(piece);
    sending.end();
    const [response] = (await once(sending, 'response')) as [IncomingMessage];
    ports.add(response.socket.localPort);
    let text = '';
    for await (const piece of response) text += piece;
    return { status: response.statusCode, code: errorCode(text) };
  };
  const piece = Buffer.alloc(1024 * 1024, 'x');
  const length = { 'content-length': String(4 * piece.length) };
  const refused: [Record<string, string>, string][] = [
    [{ ...length, ...unsignedPayload }, 'EntityTooLarge'],
    [{ ...length, 'x-amz-acl': 'private' }, 'NotImplemented'],
    [{ ...length, 'x-amz-content-sha256': 'nonsense' }, 'InvalidArgument'],
    [{ 'transfer-encoding': 'chunked', 'x-amz-content-sha256': 'f'.repeat(64) }, 'MissingContentLength'],
  ];
  for (const [headers, code] of refused) {
    expect(await exchange({ method: 'PUT', path, headers }, [piece, piece, piece, piece])).toMatchObject({
      code,
    });
    expect(await exchange({ path: `/${bucket}?list-type=2` })).toMatchObject({ status: 200 });
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

describe('what was stored', () => {
  test('survives a restart with its headers and its listing, and what was half-written is cleared', async () => {
    const headers = { ContentType: 'image/png' };
    for (const key of ['b', 'a']) await store.put(key, `body ${key}`, headers);
    const list = () => store.client.listObjectsV2({ Bucket: bucket });
    const before = await list();
    const leftover = join(store.folder, '.incoming', 'leftover');
    await writeFile(leftover, 'half an ima');
    await store.restart();
    expect(await store.files()).not.toContain(leftover);
    expect((await list()).Contents).toEqual(before.Contents);
    const answer = await store.get('a');
    expect(answer).toMatchObject({ ...headers, ETag: before.Contents?.[0]?.ETag });
    expect(await answer.Body?.transformToString()).toBe('body a');
  });

  test('is no object rather than half of one once its file lost a part', async () => {
    const before = await store.files();
    await store.put('cut', Buffer.alloc(5000, 'x'));
    const [file = ''] = (await store.files()).filter((name) => !before.includes(name));
    const whole = await readFile(file);
    const damages = [
      () => writeFile(file, whole.subarray(1)),
      ...[4000, 5, 0].map((length) => () => truncate(file, length)),
    ];
    for (const damage of damages) {
      await damage();
      await expect(store.get('cut')).rejects.toMatchObject({ name: 'NoSuchKey' });
      expect(await store.keys()).not.toContain('cut');
    }
    await store.put('cut', 'whole again');
    expect((await store.get('cut')).ContentLength).toBe(11);
  });

  test('is the old object or the new one, whole, when the store is killed while it writes', async () => {
    await survivesKills(store, 2);
  }, 60_000);
});
