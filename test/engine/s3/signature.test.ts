import type { IncomingMessage } from 'node:http';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { authenticate } from '../../../local/s3/authentication.ts';
import { decodeChunks } from '../../../local/s3/aws-chunked.ts';
import type { S3Request } from '../../../local/s3/request.ts';
import { createSigner } from '../../../local/s3/signature.ts';
import type { TestStore } from './support.ts';
import {
  bucket,
  credentials,
  send,
  sendSigned,
  signHeaders,
  startStore,
  unsignedPayload,
} from './support.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startStore();
  await store.client.send(new PutObjectCommand({ Bucket: bucket, Key: 'mine', Body: 'my bytes' }));
});
afterAll(() => store.close());

const read = { path: `/${bucket}/mine` };

/** The signer of every example in AWS's documentation of Signature Version 4 for S3. */
const example = createSigner({
  credentials: {
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  },
  region: 'us-east-1',
  clock: () => new Date('2013-05-24T00:00:00Z'),
});
const exampleCredential = 'AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request';
const exampleRequest = (
  method: string,
  path: string,
  headers: Record<string, string>,
  query = {},
): S3Request => ({
  method,
  path,
  bucket: '',
  key: '',
  query,
  headers,
  body: undefined as unknown as IncomingMessage,
});
const examplePut = {
  host: 's3.amazonaws.com',
  'x-amz-date': '20130524T000000Z',
  'x-amz-storage-class': 'REDUCED_REDUNDANCY',
  'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
  'content-encoding': 'aws-chunked',
  'x-amz-decoded-content-length': '66560',
  'content-length': '66824',
  authorization:
    `AWS4-HMAC-SHA256 Credential=${exampleCredential},` +
    'SignedHeaders=content-encoding;content-length;host;x-amz-content-sha256;x-amz-date;' +
    'x-amz-decoded-content-length;x-amz-storage-class,' +
    'Signature=4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9',
};

test("AWS's documented example of a signed GET verifies, and not with another range", async () => {
  const headers = {
    host: 'examplebucket.s3.amazonaws.com',
    range: 'bytes=0-9',
    'x-amz-content-sha256': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    'x-amz-date': '20130524T000000Z',
    authorization:
      `AWS4-HMAC-SHA256 Credential=${exampleCredential},SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,` +
      'Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  };
  const request = exampleRequest('GET', '/test.txt', headers);
  expect((await authenticate(example, request)).time.date).toEqual(new Date('2013-05-24T00:00:00Z'));
  const changed = exampleRequest('GET', '/test.txt', { ...headers, range: 'bytes=0-99' });
  await expect(authenticate(example, changed)).rejects.toMatchObject({ code: 'SignatureDoesNotMatch' });
});

test("AWS's documented example of a presigned link verifies", async () => {
  const query = {
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Credential': exampleCredential,
    'X-Amz-Date': '20130524T000000Z',
    'X-Amz-Expires': '86400',
    'X-Amz-SignedHeaders': 'host',
    'X-Amz-Signature': 'aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404',
  };
  const request = exampleRequest('GET', '/test.txt', { host: 'examplebucket.s3.amazonaws.com' }, query);
  expect((await authenticate(example, request)).payloadHash).toBe(unsignedPayload);
});

test("AWS's documented example of a chunked upload verifies chunk by chunk", async () => {
  const authentication = await authenticate(
    example,
    exampleRequest('PUT', '/examplebucket/chunkObject.txt', examplePut),
  );
  const chunks: [string, number][] = [
    ['10000;chunk-signature=ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648', 65536],
    ['400;chunk-signature=0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497', 1024],
    ['0;chunk-signature=b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9', 0],
  ];
  const body = chunks.map(([line, length]) => `${line}\r\n${'a'.repeat(length)}\r\n`).join('');
  expect(body).toHaveLength(66824);
  const decode = async (encoded: string) => {
    async function* source() {
      // Pieces of an awkward size, so that every part of the framing is split somewhere.
      for (let at = 0; at < encoded.length; at += 1009) yield Buffer.from(encoded.slice(at, at + 1009));
    }
    let decoded = '';
    const mode = { signed: true, trailer: false };
    for await (const piece of decodeChunks(source(), mode, example, authentication))
      decoded += piece.toString();
    return decoded;
  };
  expect((await decode(body)) === 'a'.repeat(66560)).toBe(true);
  const changed = body.replace('aaa\r\n400', 'aab\r\n400');
  await expect(decode(changed)).rejects.toMatchObject({ code: 'SignatureDoesNotMatch' });
  const [first = '', second = ''] = body.split('\r\n0;');
  await expect(decode(first)).rejects.toMatchObject({ code: 'IncompleteBody' });
  await expect(decode(`${first}\r\n0;${second}more`)).rejects.toMatchObject({ code: 'InvalidRequest' });
});

test('an unsigned request is refused, whatever it asks for', async () => {
  for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'POST', 'PATCH']) {
    for (const path of ['/', `/${bucket}`, `/${bucket}/mine`, `/${bucket}/nothing`, '/no-such-bucket/x']) {
      expect((await send(store.url, { method, path })).status).toBe(403);
    }
  }
  expect(await send(store.url, read)).toMatchObject({ code: 'AccessDenied' });
});

test('a header-signed request is good for fifteen minutes either way', async () => {
  const at = (minutes: number) =>
    sendSigned(store.url, read, { date: new Date(Date.now() + minutes * 60_000) });
  expect(await at(0)).toMatchObject({ status: 200 });
  for (const minutes of [-14, 14]) expect(await at(minutes)).toMatchObject({ status: 200 });
  for (const minutes of [-16, 16, -60 * 24 * 365]) {
    expect(await at(minutes)).toMatchObject({ status: 403, code: 'RequestTimeTooSkewed' });
  }
});

test('a signature by the wrong secret, for the wrong region, service or day is refused', async () => {
  const wrongSecret = { credentials: { ...credentials, secretAccessKey: 'guessed' } };
  expect(await sendSigned(store.url, read, wrongSecret)).toMatchObject({ code: 'SignatureDoesNotMatch' });
  const wrongKey = { credentials: { ...credentials, accessKeyId: 'AKIDOTHER' } };
  expect(await sendSigned(store.url, read, wrongKey)).toMatchObject({
    status: 403,
    code: 'InvalidAccessKeyId',
  });
  const malformed = { status: 400, code: 'AuthorizationHeaderMalformed' };
  expect(await sendSigned(store.url, read, { region: 'us-east-1' })).toMatchObject(malformed);
  expect(await sendSigned(store.url, read, { service: 'dynamodb' })).toMatchObject(malformed);
  const { authorization = '' } = await signHeaders(store.url, read);
  const otherDay = { authorization: authorization.replace(/\/\d{8}\//, '/20200101/') };
  expect(await sendSigned(store.url, read, { change: otherDay })).toMatchObject(malformed);
  for (const text of ['AWS4-HMAC-SHA256', 'AWS4-HMAC-SHA256 Credential=x', 'AWS AKID:sig', 'Bearer x']) {
    expect(await sendSigned(store.url, read, { change: { authorization: text } })).toMatchObject({
      status: 400,
    });
  }
  const token = { credentials: { ...credentials, sessionToken: 'temporary' } };
  expect(await sendSigned(store.url, read, token)).toMatchObject({ status: 400, code: 'InvalidToken' });
});

test('a signed header cannot be changed and no instruction can be added', async () => {
  const signed = { ...read, headers: { range: 'bytes=0-1' } };
  const change = (headers: Record<string, string>) => sendSigned(store.url, signed, { change: headers });
  expect(await change({})).toMatchObject({ status: 206 });
  expect(await change({ range: 'bytes=0-7' })).toMatchObject({ status: 403, code: 'SignatureDoesNotMatch' });
  expect(await change({ 'x-amz-date': '20200101T000000Z' })).toMatchObject({ status: 400 });
  expect(await change({ 'x-amz-meta-added': '1' })).toMatchObject({ status: 403, code: 'AccessDenied' });
  expect(await change({ host: 'elsewhere' })).toMatchObject({ status: 403, code: 'SignatureDoesNotMatch' });
});

test('two signatures on one request are one too many', async () => {
  const both = { path: `${read.path}?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=x` };
  expect(await sendSigned(store.url, both)).toMatchObject({ status: 400, code: 'InvalidArgument' });
});
