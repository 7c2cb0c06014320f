import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { GetObjectCommand, HeadObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { authenticate } from '../../../../local/s3/authentication.ts';
import type { S3Request } from '../../../../local/s3/request.ts';
import { createSigner } from '../../../../local/s3/signature.ts';
import { refusesChangedLinks } from './properties.ts';
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
  type TestStore,
} from './support.ts';

let store: TestStore;
/** As the service presigns: without the checksum of a body that it has not seen. */
let presigner: S3Client;

beforeAll(async () => {
  store = await startStore();
  const withoutChecksum = { requestChecksumCalculation: 'WHEN_REQUIRED' } as const;
  presigner = new S3Client({ endpoint: store.url, region, credentials, ...withoutChecksum });
  await store.put('mine', 'my bytes');
  await store.put('yours', 'your bytes');
});
afterEach(() => store.stopClock(null));
afterAll(async () => {
  presigner.destroy();
  await store.close();
});

const wrong = { status: 403, code: 'SignatureDoesNotMatch' };

describe("AWS's documented examples", () => {
  const example = createSigner({
    credentials: {
      accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
      secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    },
    region: 'us-east-1',
    clock: () => new Date('2013-05-24T00:00:00Z'),
  });
  const credential = 'AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request';
  const get = (headers: Record<string, string>, query = {}): S3Request => ({
    method: 'GET',
    path: '/test.txt',
    bucket: '',
    key: '',
    query,
    headers: { host: 'examplebucket.s3.amazonaws.com', ...headers },
    body: undefined as unknown as IncomingMessage,
  });

  test('a signed GET verifies, and not with another range', async () => {
    const headers = {
      range: 'bytes=0-9',
      'x-amz-content-sha256': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      'x-amz-date': '20130524T000000Z',
      authorization:
        `AWS4-HMAC-SHA256 Credential=${credential},SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,` +
        'Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    };
    expect(await authenticate(example, get(headers))).toMatchObject({ payloadHash: expect.any(String) });
    const changed = get({ ...headers, range: 'bytes=0-99' });
    await expect(authenticate(example, changed)).rejects.toMatchObject({ code: 'SignatureDoesNotMatch' });
  });

  test('a presigned link verifies', async () => {
    const query = {
      'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
      'X-Amz-Credential': credential,
      'X-Amz-Date': '20130524T000000Z',
      'X-Amz-Expires': '86400',
      'X-Amz-SignedHeaders': 'host',
      'X-Amz-Signature': 'aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404',
    };
    expect((await authenticate(example, get({}, query))).payloadHash).toBe('UNSIGNED-PAYLOAD');
  });
});

describe('a request signed in its header', () => {
  const read = { path: `/${bucket}/mine` };

  test('is refused without its signature, whatever it asks for', async () => {
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'POST', 'PATCH']) {
      for (const path of ['/', `/${bucket}`, `/${bucket}/mine`, '/no-such-bucket/x']) {
        expect((await send(store.url, { method, path })).status).toBe(403);
      }
    }
    expect(await send(store.url, read)).toMatchObject({ code: 'AccessDenied' });
  });

  test("is good for fifteen minutes either way, by the store's own clock", async () => {
    const date = new Date('2026-11-21T12:00:00Z');
    const at = (minutes: number, ms = 0) => {
      store.stopClock(new Date(date.getTime() + minutes * 60_000 + ms));
      return sendSigned(store.url, read, { date });
    };
    for (const minutes of [-15, 0, 15]) expect(await at(minutes)).toMatchObject({ status: 200 });
    for (const late of [await at(15, 1), await at(-15, -1)]) {
      expect(late).toMatchObject({ status: 403, code: 'RequestTimeTooSkewed' });
    }
    // Clients correct their own clock by this header.
    expect((await at(0)).headers.date).toBe('Sat, 21 Nov 2026 12:00:00 GMT');
  });

  test('is refused by the wrong secret, for the wrong region, service or day', async () => {
    const signed = (choice: object) => sendSigned(store.url, read, choice);
    expect(await signed({ credentials: { ...credentials, secretAccessKey: 'guessed' } })).toMatchObject(
      wrong,
    );
    const wrongKey = { credentials: { ...credentials, accessKeyId: 'AKIDOTHER' } };
    expect(await signed(wrongKey)).toMatchObject({ status: 403, code: 'InvalidAccessKeyId' });
    const token = { credentials: { ...credentials, sessionToken: 'temporary' } };
    expect(await signed(token)).toMatchObject({ status: 400, code: 'InvalidToken' });
    const { authorization = '' } = await signHeaders(store.url, read);
    const otherDay = { authorization: authorization.replace(/\/\d{8}\//, '/20200101/') };
    for (const choice of [{ region: 'us-east-1' }, { service: 'dynamodb' }, { change: otherDay }]) {
      expect(await signed(choice)).toMatchObject({ status: 400, code: 'AuthorizationHeaderMalformed' });
    }
    for (const text of ['AWS4-HMAC-SHA256', 'AWS4-HMAC-SHA256 Credential=x', 'AWS AKID:sig', 'Bearer x']) {
      expect(await signed({ change: { authorization: text } })).toMatchObject({ status: 400 });
    }
  });

  test('cannot be changed, and no instruction can be added', async () => {
    const signed = { ...read, headers: { range: 'bytes=0-1' } };
    const change = (headers: Record<string, string>) => sendSigned(store.url, signed, { change: headers });
    expect(await change({})).toMatchObject({ status: 200 });
    expect(await change({ range: 'bytes=0-7' })).toMatchObject(wrong);
    expect(await change({ host: 'elsewhere' })).toMatchObject(wrong);
    expect(await change({ 'x-amz-date': '20200101T000000Z' })).toMatchObject({ status: 400 });
    expect(await change({ 'x-amz-acl': 'private' })).toMatchObject({ status: 403, code: 'AccessDenied' });
    const both = { path: `${read.path}?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=x` };
    expect(await sendSigned(store.url, both)).toMatchObject({ status: 400, code: 'InvalidArgument' });
  });
});

describe('a link', () => {
  const getLink = (Key: string, options: { expiresIn?: number; signingDate?: Date } = {}) =>
    getSignedUrl(presigner, new GetObjectCommand({ Bucket: bucket, Key }), options);
  const putLink = (Key: string) =>
    getSignedUrl(presigner, new PutObjectCommand({ Bucket: bucket, Key, ContentType: 'image/png' }), {
      signableHeaders: new Set(['host', 'content-type']),
    });
  const png = { 'content-type': 'image/png' };
  /** Status, error code and, where it tells why, the message. */
  async function outcome(link: string, init: RequestInit = {}) {
    const answer = await fetch(link, init);
    const body = await answer.text();
    return { status: answer.status, code: errorCode(body), message: /<Message>([^<]*)/.exec(body)?.[1] };
  }

  test('reads, writes or asks about the one object that it names', async () => {
    const body = randomBytes(200_000);
    expect(await outcome(await putLink('by link'), { method: 'PUT', body, headers: png })).toMatchObject({
      status: 200,
    });
    const answer = await fetch(await getLink('by link'));
    expect(answer.headers.get('content-type')).toBe('image/png');
    expect(body.equals(Buffer.from(await answer.arrayBuffer()))).toBe(true);
    const head = await getSignedUrl(presigner, new HeadObjectCommand({ Bucket: bucket, Key: 'by link' }));
    const asked = await fetch(head, { method: 'HEAD' });
    expect([asked.status, asked.headers.get('content-length')]).toEqual([200, '200000']);
  });

  test('to an awkward key opens in a browser, its slashes encoded or not, but not decoded twice', async () => {
    for (const Key of ['a+b c&d=e?f#g/ü 😀.png', "it's (1)!*.png", '100%/%2F.png', 'a//b/', 'x/y z']) {
      await store.put(Key, Key);
      expect(await (await fetch(await getLink(Key))).text()).toBe(Key);
    }
    const link = await getLink('x/y z');
    expect(await (await fetch(link.replace('x/y', 'x%2Fy'))).text()).toBe('x/y z');
    expect((await fetch(link.replace('x/y', 'x%252Fy'))).status).toBe(403);
    expect((await fetch(link.replace('y%20z', 'y+z'))).status).toBe(403);
    await store.remove('x/y z');
  });

  test('works to its last moment and then says that it has expired', async () => {
    const signingDate = new Date('2026-11-21T12:00:00Z');
    const link = await getLink('mine', { expiresIn: 60, signingDate });
    const at = (ms: number) => {
      store.stopClock(new Date(signingDate.getTime() + ms));
      return outcome(link);
    };
    for (const ms of [-15 * 60_000, 60_000]) expect((await at(ms)).status).toBe(200);
    const message = 'Request has expired';
    expect(await at(60_001)).toEqual({ status: 403, code: 'AccessDenied', message });
    expect(await at(-15 * 60_000 - 1)).toMatchObject({ status: 403, message: 'Request is not yet valid' });
  });

  test('lives from one second to one week', async () => {
    const withExpiry = async (expires: string) => {
      const link = new URL(await getLink('mine'));
      link.searchParams.set('X-Amz-Expires', expires);
      return outcome(link.href);
    };
    const malformed = { status: 400, code: 'AuthorizationQueryParametersError' };
    for (const expires of ['0', '-1', '604801', '1e3', 'week', '']) {
      expect(await withExpiry(expires)).toMatchObject(malformed);
    }
    expect((await outcome(await getLink('mine', { expiresIn: 604800 }))).status).toBe(200);
    // A lifetime within the range that was not the signed one.
    expect(await withExpiry('604800')).toMatchObject(wrong);
  });

  test('opens no other object, no other method, no other bucket', async () => {
    const link = await getLink('mine');
    expect(await outcome(link.replace('/mine?', '/yours?'))).toMatchObject(wrong);
    expect(await outcome(link.replace(`/${bucket}/`, '/other/'))).toMatchObject(wrong);
    expect(await outcome(link, { method: 'DELETE' })).toMatchObject(wrong);
    expect(await outcome(link, { method: 'PUT', body: 'x' })).toMatchObject(wrong);
    expect((await fetch(link, { method: 'HEAD' })).status).toBe(403);
    expect(await outcome(link.replace('127.0.0.1', 'localhost'))).toMatchObject(wrong);
    expect(await outcome(await putLink('mine'), { headers: png })).toMatchObject(wrong);
    expect(await (await fetch(link)).text()).toBe('my bytes');
  });

  test('with any parameter changed, added or dropped, or one character, is refused', async () => {
    const link = await getLink('mine');
    const names = [...new URL(link).searchParams.keys()];
    expect(names.length).toBeGreaterThanOrEqual(7);
    const refused = async (change: (parameters: URLSearchParams) => void) => {
      const changed = new URL(link);
      change(changed.searchParams);
      expect([400, 403]).toContain((await outcome(changed.href)).status);
    };
    for (const name of names) {
      await refused((parameters) => parameters.set(name, `${parameters.get(name)}0`));
      await refused((parameters) => parameters.delete(name));
      await refused((parameters) => parameters.append(name, parameters.get(name) ?? ''));
    }
    await refused((parameters) => parameters.set('response-content-disposition', 'inline'));
    await refused((parameters) => parameters.set('__proto__', 'x'));
    await refusesChangedLinks(store, link, 40);
    expect((await outcome(link)).status).toBe(200);
  });

  test('signed for a content type takes no other, nor none, nor an added instruction', async () => {
    const link = await putLink('typed.png');
    const write = (headers: Record<string, string>) =>
      outcome(link, { method: 'PUT', body: Buffer.from('x'), headers });
    expect(await write({ 'content-type': 'text/html' })).toMatchObject(wrong);
    expect(await write({})).toMatchObject(wrong);
    for (const header of ['x-amz-meta-owner', 'x-amz-copy-source', 'x-amz-acl', 'x-amz-content-sha256']) {
      expect(await write({ ...png, [header]: `${bucket}/yours` })).toMatchObject({
        status: 403,
        code: 'AccessDenied',
        message: 'There were headers present in the request which were not signed',
      });
    }
    expect((await outcome(await getLink('typed.png'))).status).toBe(404);
    expect((await write(png)).status).toBe(200);
  });

  test('signed by someone else, for elsewhere, or with a session token is refused', async () => {
    const linkBy = async (overrides: Parameters<typeof clientFor>[1] & { sessionToken?: string }) => {
      const command = new GetObjectCommand({ Bucket: bucket, Key: 'mine' });
      return outcome(await getSignedUrl(clientFor(store.url, overrides), command));
    };
    expect(await linkBy({ secretAccessKey: 'guessed' })).toMatchObject(wrong);
    expect(await linkBy({ accessKeyId: 'AKIDOTHER' })).toMatchObject({ code: 'InvalidAccessKeyId' });
    expect(await linkBy({ region: 'us-west-2' })).toMatchObject({
      status: 400,
      code: 'AuthorizationQueryParametersError',
      message: expect.stringContaining('eu-west-1'),
    });
    expect(await linkBy({ sessionToken: 'temporary' })).toMatchObject({ status: 400, code: 'InvalidToken' });
  });
});
