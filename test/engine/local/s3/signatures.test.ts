import type { IncomingMessage } from 'node:http';
import { GetObjectCommand, HeadObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { S3Request } from '../../../../local/s3/request.ts';
import { authenticate, createSigner } from '../../../../local/s3/signature.ts';
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
const denied = { status: 403, code: 'AccessDenied' };
const date = new Date('2026-11-21T12:00:00Z');
const setClock = (minutes: number, ms = 0) =>
  store.stopClock(new Date(date.getTime() + minutes * 60_000 + ms));

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

  test('a signed GET verifies', async () => {
    const hash = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
    const headers = {
      range: 'bytes=0-9',
      'x-amz-content-sha256': hash,
      'x-amz-date': '20130524T000000Z',
      authorization:
        `AWS4-HMAC-SHA256 Credential=${credential},SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,` +
        'Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    };
    expect(await authenticate(example, get(headers))).toBe(hash);
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
    expect(await authenticate(example, get({}, query))).toBe('UNSIGNED-PAYLOAD');
  });
});

describe('a request signed in its header', () => {
  const read = { path: `/${bucket}/mine`, headers: { range: 'bytes=0-1' } };

  test('is refused without its signature, whatever it asks for', async () => {
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'POST', 'PATCH']) {
      for (const path of ['/', `/${bucket}`, `/${bucket}/mine`, '/no-such-bucket/x']) {
        expect((await send(store.url, { method, path })).status).toBe(403);
      }
    }
  });

  test("is good for fifteen minutes either way, by the store's own clock", async () => {
    for (const minutes of [-15, 15]) {
      setClock(minutes);
      const { status, headers } = await sendSigned(store.url, read, { date });
      // Clients correct their own clock by this header.
      expect([status, headers.date]).toEqual([
        200,
        `Sat, 21 Nov 2026 ${minutes < 0 ? '11:45' : '12:15'}:00 GMT`,
      ]);
      setClock(minutes, Math.sign(minutes));
      const late = { status: 403, code: 'RequestTimeTooSkewed' };
      expect(await sendSigned(store.url, read, { date })).toMatchObject(late);
    }
  });

  test.each<[string, object, object]>([
    ['the wrong secret', { credentials: { ...credentials, secretAccessKey: 'guessed' } }, wrong],
    ['another key', { credentials: { ...credentials, accessKeyId: 'AKIDOTHER' } }, wrong],
    ['the wrong region', { region: 'us-east-1' }, wrong],
    ['the wrong service', { service: 'dynamodb' }, wrong],
    ['no signature of that kind', { change: { authorization: 'Bearer x' } }, denied],
    ['half a signature', { change: { authorization: 'AWS4-HMAC-SHA256 Credential=x' } }, denied],
    ['a changed header', { change: { range: 'bytes=0-7' } }, wrong],
    ['another host', { change: { host: 'elsewhere' } }, wrong],
    ['another date', { change: { 'x-amz-date': '20200101T000000Z' } }, wrong],
    ['an added instruction', { change: { 'x-amz-acl': 'private' } }, denied],
    ['nothing changed', {}, { status: 200 }],
  ])('is judged by its signature: with %s', async (_what, choice, answer) => {
    expect(await sendSigned(store.url, read, choice)).toMatchObject(answer);
  });

  test('is refused for another day than the one of its key', async () => {
    const { authorization = '' } = await signHeaders(store.url, read);
    const change = { authorization: authorization.replace(/\/\d{8}\//, '/20200101/') };
    expect(await sendSigned(store.url, read, { change })).toMatchObject(wrong);
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
  /** Status, error code and, where it says why, the message. */
  async function outcome(link: string, init: RequestInit = {}) {
    const answer = await fetch(link, init);
    const body = await answer.text();
    return { status: answer.status, code: errorCode(body), message: /<Message>([^<]*)/.exec(body)?.[1] };
  }

  test('to an awkward key opens in a browser, its slashes encoded or not, but not decoded twice', async () => {
    for (const Key of ['a+b c&d=e?f#g/ü 😀.png', "it's (1)!*.png", '100%/%2F.png', 'a//b/', 'x/y z']) {
      await store.put(Key, Key);
      expect(await (await fetch(await getLink(Key))).text()).toBe(Key);
    }
    const link = await getLink('x/y z');
    expect(await (await fetch(link.replace('x/y', 'x%2Fy'))).text()).toBe('x/y z');
    expect((await fetch(link.replace('x/y', 'x%252Fy'))).status).toBe(403);
    expect((await fetch(link.replace('y%20z', 'y+z'))).status).toBe(403);
  });

  test('works to its last moment and then says that it has expired', async () => {
    const link = await getLink('mine', { expiresIn: 60, signingDate: date });
    for (const [minutes, ms, status, message] of [
      [-15, -1, 403, 'Request is not yet valid'],
      [-15, 0, 200, undefined],
      [1, 0, 200, undefined],
      [1, 1, 403, 'Request has expired'],
    ] as const) {
      setClock(minutes, ms);
      expect(await outcome(link)).toMatchObject({ status, message });
    }
  });

  test.each(['0', '-1', '604801', '1e3', ''])(
    'lives from one second to one week, not %j',
    async (expires) => {
      const link = new URL(await getLink('mine', { expiresIn: 604_800 }));
      expect((await outcome(link.href)).status).toBe(200);
      link.searchParams.set('X-Amz-Expires', expires);
      expect(await outcome(link.href)).toMatchObject({
        status: 400,
        code: 'AuthorizationQueryParametersError',
      });
    },
  );

  test('opens no other object, no other method, no other bucket', async () => {
    const link = await getLink('mine');
    for (const [from, to] of [
      ['/mine?', '/yours?'],
      [`/${bucket}/`, '/other/'],
      ['127.0.0.1', 'localhost'],
    ]) {
      expect(await outcome(link.replace(from!, to!))).toMatchObject(wrong);
    }
    for (const method of ['DELETE', 'PUT']) expect(await outcome(link, { method })).toMatchObject(wrong);
    const head = await getSignedUrl(presigner, new HeadObjectCommand({ Bucket: bucket, Key: 'mine' }));
    expect(await outcome(head)).toMatchObject(wrong);
    const { status, headers } = await fetch(head, { method: 'HEAD' });
    expect([status, headers.get('content-length')]).toEqual([200, '8']);
  });

  test('with any parameter changed, added or dropped, or one character, is refused', async () => {
    const link = await getLink('mine');
    const refused = async (change: (parameters: URLSearchParams) => void) => {
      const changed = new URL(link);
      change(changed.searchParams);
      expect([400, 403]).toContain((await outcome(changed.href)).status);
    };
    for (const name of new URL(link).searchParams.keys()) {
      await refused((parameters) => parameters.set(name, `${parameters.get(name)}0`));
      await refused((parameters) => parameters.delete(name));
      await refused((parameters) => parameters.append(name, parameters.get(name) ?? ''));
    }
    await refused((parameters) => parameters.set('response-content-disposition', 'inline'));
    await refused((parameters) => parameters.set('__proto__', 'x'));
    await refusesChangedLinks(store, link, 40);
  });

  test('signed for a content type takes no other, nor none, nor an added instruction', async () => {
    const link = await putLink('typed.png');
    const write = (headers: Record<string, string>) =>
      outcome(link, { method: 'PUT', body: Buffer.from('x'), headers });
    for (const headers of [{ 'content-type': 'text/html' }, {}])
      expect(await write(headers)).toMatchObject(wrong);
    for (const header of ['x-amz-meta-owner', 'x-amz-copy-source', 'x-amz-content-sha256']) {
      expect(await write({ ...png, [header]: `${bucket}/yours` })).toMatchObject({
        ...denied,
        message: 'There were headers present in the request which were not signed',
      });
    }
    expect((await outcome(await getLink('typed.png'))).status).toBe(404);
    expect((await write(png)).status).toBe(200);
    expect(await store.get('typed.png')).toMatchObject({ ContentType: 'image/png', ContentLength: 1 });
  });

  test('signed by someone else or for elsewhere is refused', async () => {
    for (const other of [
      { secretAccessKey: 'guessed' },
      { accessKeyId: 'AKIDOTHER' },
      { region: 'us-west-2' },
    ]) {
      const command = new GetObjectCommand({ Bucket: bucket, Key: 'mine' });
      expect(await outcome(await getSignedUrl(clientFor(store.url, other), command))).toMatchObject(wrong);
    }
  });
});
