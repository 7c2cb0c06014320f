import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createSigner } from '../../../local/s3/signature.ts';
import type { TestStore } from './support.ts';
import {
  bucket,
  credentials,
  region,
  sendSigned,
  signHeaders,
  startStore,
  unsignedPayload,
} from './support.ts';

let store: TestStore;
const maxObjectBytes = 256 * 1024;
const body = Buffer.alloc(100_000, 'image bytes ');
beforeAll(async () => void (store = await startStore({ maxObjectBytes })));
afterAll(() => store.close());

const path = `/${bucket}/uploaded`;
const hash = (algorithm: string, data: Buffer | string = body) => createHash(algorithm).update(data);
const crc = (data: Buffer) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(data));
  return bytes.toString('base64');
};
/** Puts, and says whether anything was stored: a refusal must leave the store as it was. */
async function put(headers: Record<string, string>, sent: Buffer | string = body, change = {}) {
  const before = await store.files();
  const request = {
    method: 'PUT',
    path,
    headers: { 'content-length': String(sent.length), ...headers },
    body: sent,
  };
  const answer = await sendSigned(store.url, request, { change });
  if (answer.status === 200) await sendSigned(store.url, { method: 'DELETE', path });
  expect(await store.files()).toEqual(before);
  return answer;
}

test('a body must be the one whose SHA-256 was signed', async () => {
  expect(await put({})).toMatchObject({ status: 200 });
  const other = hash('sha256', 'other').digest('hex');
  const mismatch = { status: 400, code: 'XAmzContentSHA256Mismatch' };
  expect(await put({ 'x-amz-content-sha256': other })).toMatchObject(mismatch);
  expect(await put({ 'x-amz-content-sha256': unsignedPayload })).toMatchObject({ status: 200 });
  const nonsense = { 'x-amz-content-sha256': 'STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD' };
  expect(await put(nonsense)).toMatchObject({ status: 400, code: 'InvalidArgument' });
});

test('a body must match every checksum that came with it', async () => {
  const right = {
    'content-md5': hash('md5').digest('base64'),
    'x-amz-checksum-crc32': crc(body),
    'x-amz-checksum-sha256': hash('sha256').digest('base64'),
  };
  const answer = await put(right);
  expect(answer).toMatchObject({ status: 200, headers: { etag: `"${hash('md5').digest('hex')}"` } });
  const other = Buffer.from('other');
  const wrong = { status: 400, code: 'BadDigest' };
  expect(await put({ ...right, 'content-md5': hash('md5', other).digest('base64') })).toMatchObject(wrong);
  expect(await put({ ...right, 'x-amz-checksum-crc32': crc(other) })).toMatchObject(wrong);
  const otherSha = hash('sha256', other).digest('base64');
  expect(await put({ ...right, 'x-amz-checksum-sha256': otherSha })).toMatchObject(wrong);
  expect(await put({ 'content-md5': 'short' })).toMatchObject({ code: 'InvalidDigest' });
  expect(await put({ 'x-amz-checksum-crc32': '?' })).toMatchObject({ code: 'InvalidRequest' });
});

test('an object may be as large as the limit and no larger', async () => {
  expect(await put({}, Buffer.alloc(maxObjectBytes))).toMatchObject({ status: 200 });
  const large = await put({}, Buffer.alloc(maxObjectBytes + 1));
  expect(large).toMatchObject({ status: 400, code: 'EntityTooLarge' });
});

test('a body of unannounced length is refused', async () => {
  const headers = await signHeaders(store.url, { method: 'PUT', path, body: 'x' });
  // `fetch` sends a stream in chunks, without a Content-Length.
  const stream = new Response('x').body as ReadableStream;
  const answer = await fetch(store.url + path, { method: 'PUT', headers, body: stream, duplex: 'half' });
  expect(answer.status).toBe(411);
  expect(await answer.text()).toContain('<Code>MissingContentLength</Code>');
});

interface Chunked {
  signed?: boolean;
  /** Null sends none. */
  trailer?: string | null;
  tamper?: (encoded: string) => string;
  headers?: Record<string, string>;
}

/** Sends `body` in chunks as the SDKs do, with the store's trailer signed or not. */
async function putChunked({
  signed = false,
  trailer = crc(body),
  tamper = (text) => text,
  headers = {},
}: Chunked) {
  const date = new Date();
  const hasTrailer = trailer !== null;
  const mode = signed ? 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD' : 'STREAMING-UNSIGNED-PAYLOAD';
  const request = {
    method: 'PUT',
    path,
    headers: {
      'content-encoding': 'aws-chunked',
      'x-amz-content-sha256': hasTrailer || !signed ? `${mode}-TRAILER` : mode,
      'x-amz-decoded-content-length': String(body.length),
      'transfer-encoding': 'chunked',
      ...(hasTrailer && { 'x-amz-trailer': 'x-amz-checksum-crc32' }),
      ...headers,
    },
  };
  const seed = await signHeaders(store.url, request, { date });
  const sign = chunkSigner(seed['authorization'] ?? '', seed['x-amz-date'] ?? '', date);
  let encoded = '';
  for (const at of [0, 65536, body.length]) {
    const piece = body.subarray(at, at === 0 ? 65536 : undefined);
    const signature = signed
      ? `;chunk-signature=${await sign('PAYLOAD', [hash('sha256', ''), hash('sha256', piece)])}`
      : '';
    encoded += `${piece.length.toString(16)}${signature}\r\n${piece.toString('latin1')}${piece.length ? '\r\n' : ''}`;
  }
  if (hasTrailer) {
    encoded += `x-amz-checksum-crc32:${trailer}\r\n`;
    const digest = [hash('sha256', `x-amz-checksum-crc32:${trailer}\n`)];
    if (signed) encoded += `x-amz-trailer-signature:${await sign('TRAILER', digest)}\r\n`;
  }
  const before = await store.files();
  const sent = Buffer.from(tamper(`${encoded}\r\n`), 'latin1');
  const answer = await sendSigned(store.url, { ...request, body: sent }, { change: seed });
  if (answer.status === 200) {
    const stored = await sendSigned(store.url, { path });
    expect(stored.body.equals(body)).toBe(true);
    await sendSigned(store.url, { method: 'DELETE', path });
  }
  expect(await store.files()).toEqual(before);
  return answer;
}

function chunkSigner(authorization: string, amzDate: string, date: Date) {
  const signer = createSigner({ credentials, region, clock: () => date });
  let previous = /Signature=([0-9a-f]{64})/.exec(authorization)?.[1] ?? '';
  return async (kind: string, digests: ReturnType<typeof hash>[]) => {
    const scope = `${amzDate.slice(0, 8)}/${region}/s3/aws4_request`;
    const lines = [
      `AWS4-HMAC-SHA256-${kind}`,
      amzDate,
      scope,
      previous,
      ...digests.map((one) => one.digest('hex')),
    ];
    previous = await signer.sign(lines.join('\n'), date);
    return previous;
  };
}

const damage = (encoded: string) => encoded.replace('image', 'imagE');

test('chunks with a checksum trailer are stored without their framing', async () => {
  expect(await putChunked({})).toMatchObject({ status: 200 });
  expect(await putChunked({ tamper: damage })).toMatchObject({ status: 400, code: 'BadDigest' });
  expect(await putChunked({ trailer: 'AAAAAA==' })).toMatchObject({ status: 400, code: 'BadDigest' });
});

test('signed chunks are verified one by one, their trailer too', async () => {
  expect(await putChunked({ signed: true, trailer: null })).toMatchObject({ status: 200 });
  expect(await putChunked({ signed: true })).toMatchObject({ status: 200 });
  const wrong = { status: 403, code: 'SignatureDoesNotMatch' };
  expect(await putChunked({ signed: true, trailer: null, tamper: damage })).toMatchObject(wrong);
  const otherTrailer = (encoded: string) => encoded.replace(crc(body), 'AAAAAA==');
  expect(await putChunked({ signed: true, tamper: otherTrailer })).toMatchObject(wrong);
  const unsignedTrailer = (encoded: string) => encoded.replace(/x-amz-trailer-signature.*\r\n/, '');
  expect(await putChunked({ signed: true, tamper: unsignedTrailer })).toMatchObject(wrong);
  const unsignedChunk = (encoded: string) => encoded.replace(/;chunk-signature=\w+/, '');
  expect(await putChunked({ signed: true, tamper: unsignedChunk })).toMatchObject(wrong);
});

test('chunks that are not what their headers say are refused', async () => {
  const invalid = { status: 400, code: 'InvalidRequest' };
  const incomplete = { status: 400, code: 'IncompleteBody' };
  const length = (bytes: number) => ({ 'x-amz-decoded-content-length': String(bytes) });
  expect(await putChunked({ headers: length(body.length - 1) })).toMatchObject(incomplete);
  expect(await putChunked({ headers: length(body.length + 1) })).toMatchObject(incomplete);
  expect(await putChunked({ headers: length(maxObjectBytes + 1) })).toMatchObject({ code: 'EntityTooLarge' });
  expect(await putChunked({ tamper: (text) => text.slice(0, 70_000) })).toMatchObject(incomplete);
  expect(await putChunked({ tamper: (text) => text.replace(/x-amz-checksum.*\r\n/, '') })).toMatchObject(
    invalid,
  );
  expect(await putChunked({ tamper: (text) => `${text}more` })).toMatchObject(invalid);
  expect(await putChunked({ tamper: (text) => text.replace('10000\r\n', '0x10000\r\n') })).toMatchObject(
    invalid,
  );
  expect(await putChunked({ tamper: (text) => 'x'.repeat(9000) + text })).toMatchObject(invalid);
  const unknown = { 'x-amz-trailer': 'x-amz-checksum-crc64nvme' };
  expect(await putChunked({ headers: unknown })).toMatchObject({ status: 501, code: 'NotImplemented' });
});

test('a body that breaks off half-way leaves the object as it was and no file behind', async () => {
  await store.client.send(new PutObjectCommand({ Bucket: bucket, Key: 'kept', Body: 'the old body' }));
  const files = await store.files();
  const target = { method: 'PUT', path: `/${bucket}/kept` };
  const headers = { 'content-length': String(body.length), 'x-amz-content-sha256': unsignedPayload };
  const signed = await signHeaders(store.url, { ...target, headers });
  const { hostname, port } = new URL(store.url);
  const socket = connect(Number(port), hostname);
  const lines = Object.entries(signed).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`PUT ${target.path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  socket.write(body.subarray(0, body.length / 2));
  const until = async (reached: (count: number) => boolean) => {
    for (let tries = 0; !reached((await store.files()).length); tries += 1) {
      if (tries > 500) throw new Error('The store did not come to the expected number of files.');
      await sleep(10);
    }
  };
  await until((count) => count === files.length + 1);
  socket.destroy();
  await until((count) => count === files.length);
  expect(await store.files()).toEqual(files);
  expect((await sendSigned(store.url, { path: target.path })).body.toString()).toBe('the old body');
});

test('user metadata is limited as on S3', async () => {
  const metadata = (bytes: number) => ({ 'x-amz-meta-note': 'x'.repeat(bytes - 'note'.length) });
  expect(await put(metadata(2048))).toMatchObject({ status: 200 });
  expect(await put(metadata(2049))).toMatchObject({ status: 400, code: 'MetadataTooLarge' });
});
