import { randomBytes } from 'node:crypto';
import { createPresignedPost, type PresignedPostOptions } from '@aws-sdk/s3-presigned-post';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { checkPolicy } from '../../../../local/s3/post-policy.ts';
import { createSigner } from '../../../../local/s3/signature.ts';
import {
  bucket,
  clientFor,
  credentials,
  region,
  send,
  startStore,
  submit,
  type TestStore,
} from './support.ts';

let store: TestStore;
/** Objects that the tests meant to store; a refused form adds none. */
let stored = 0;
const maxObjectBytes = 2 * 1024 * 1024;

beforeAll(async () => void (store = await startStore({ maxObjectBytes })));
afterAll(() => store.close());
afterEach(async () => {
  expect(await store.keys()).toHaveLength(stored);
  expect(await store.files()).toHaveLength(stored);
});

/** A form of the SDK, signed with the store's credentials. */
const presignPost = (Key: string, options: Partial<PresignedPostOptions> = {}, client = store.client) =>
  createPresignedPost(client, { Bucket: bucket, Key, ...options });
const accepted = async (...form: Parameters<typeof submit>) => {
  const answer = await submit(...form);
  if (answer.status < 300) stored += 1;
  return answer;
};
const refusedByPolicy = (reason: string) => ({
  status: 403,
  code: 'AccessDenied',
  message: expect.stringContaining(`Invalid according to Policy: ${reason}`),
});

test('a form uploads its file under its key with its content type', async () => {
  const body = randomBytes(100_000);
  const Fields = { 'Content-Type': 'image/png' };
  const form = await presignPost('uploads/one 1.png', { Fields });
  const { status, headers } = await accepted(form, body);
  expect(status).toBe(204);
  expect(headers.get('location')).toBe(`${store.url}/${bucket}/uploads/one%201.png`);
  const answer = await store.get('uploads/one 1.png');
  expect(body.equals((await answer.Body?.transformToByteArray()) ?? Buffer.alloc(0))).toBe(true);
  expect(answer).toMatchObject({ ContentType: 'image/png' });
  expect(headers.get('etag')).toBe(answer.ETag);
});

test('the file must lie within content-length-range, both ends included', async () => {
  const Conditions: PresignedPostOptions['Conditions'] = [['content-length-range', 10, 20]];
  const sized = async (bytes: number) => {
    const form = await presignPost(`sized ${bytes}`, { Conditions });
    return accepted(form, Buffer.alloc(bytes));
  };
  expect(await sized(9)).toMatchObject({ status: 400, code: 'EntityTooSmall' });
  expect(await sized(10)).toMatchObject({ status: 204 });
  expect(await sized(20)).toMatchObject({ status: 204 });
  const over = await sized(21);
  expect(over).toMatchObject({ status: 400, code: 'EntityTooLarge' });
  expect(over.xml).toContain('<ProposedSize>21</ProposedSize><MaxSizeAllowed>20</MaxSizeAllowed>');
});

test("the store's own limit holds where the policy has none", async () => {
  const form = await presignPost('large');
  expect(await accepted(form, Buffer.alloc(maxObjectBytes))).toMatchObject({ status: 204 });
  expect(await submit(form, Buffer.alloc(maxObjectBytes + 1))).toMatchObject({ code: 'EntityTooLarge' });
  expect(await submit(form, Buffer.alloc(maxObjectBytes + 100_000))).toMatchObject({
    code: 'EntityTooLarge',
  });
});

test('a form cannot be sent after its policy has expired', async () => {
  const form = await presignPost('late', { Expires: 60 });
  const { expiration } = JSON.parse(Buffer.from(form.fields.Policy!, 'base64').toString());
  store.stopClock(new Date(Date.parse(expiration) + 1));
  expect(await submit(form, 'x')).toMatchObject(refusedByPolicy('Policy expired.'));
  store.stopClock(new Date(expiration));
  expect(await accepted(form, 'x')).toMatchObject({ status: 204 });
  store.stopClock(null);
});

test('no field can differ from the policy, be missing, or be added', async () => {
  const form = await presignPost('mine.png', { Fields: { 'Content-Type': 'image/png' } });
  const refused = (changes: Record<string, string | undefined>) => submit(form, 'x', changes);
  const failed = refusedByPolicy('Policy Condition failed');
  expect(await refused({ key: 'yours.png' })).toMatchObject(failed);
  expect(await refused({ 'Content-Type': 'text/html' })).toMatchObject(failed);
  expect(await refused({ 'Content-Type': undefined })).toMatchObject(failed);
  const extra = refusedByPolicy('Extra input fields: x-amz-meta-owner');
  expect(await refused({ 'x-amz-meta-owner': 'me' })).toMatchObject(extra);
  expect(await submit({ ...form, url: `${store.url}/other` }, 'x')).toMatchObject(failed);
  expect(await accepted(form, 'x', { 'x-ignore-token': 'anything' })).toMatchObject({ status: 204 });
});

test('starts-with takes what begins so, and each type of a list must', async () => {
  const Conditions: PresignedPostOptions['Conditions'] = [['starts-with', '$Content-Type', 'image/']];
  // The SDK makes of this key that it must begin so.
  const form = await presignPost('uploads/lic_1/${filename}', { Conditions });
  form.fields.key = 'uploads/lic_1/cat';
  const typed = { 'Content-Type': 'image/webp' };
  expect(await accepted(form, 'x', typed)).toMatchObject({ status: 204 });
  const failed = refusedByPolicy('Policy Condition failed');
  expect(await submit(form, 'x', { ...typed, key: 'uploads/lic_2/a' })).toMatchObject(failed);
  for (const type of ['text/html', '', 'image/png, text/html', ' image']) {
    expect(await submit(form, 'x', { 'Content-Type': type })).toMatchObject(failed);
  }
});

test('a policy is only as good as its signature', async () => {
  const form = await presignPost('signed');
  const looser = Buffer.from(JSON.stringify({ expiration: '2099-01-01T00:00:00Z', conditions: [] }));
  const changed = { Policy: looser.toString('base64') };
  expect(await submit(form, 'x', changed)).toMatchObject({ status: 403, code: 'SignatureDoesNotMatch' });
  const guessed = clientFor(store.url, { secretAccessKey: 'guessed' });
  const forged = await presignPost('signed', {}, guessed);
  expect(await submit(forged, 'x')).toMatchObject({ status: 403, code: 'SignatureDoesNotMatch' });
  const unsigned = { Policy: undefined, 'X-Amz-Signature': undefined };
  expect(await submit(form, 'x', unsigned)).toMatchObject({ status: 403, code: 'AccessDenied' });
  const stranger = await presignPost('signed', {}, clientFor(store.url, { accessKeyId: 'AKIDOTHER' }));
  expect(await submit(stranger, 'x')).toMatchObject({ status: 403, code: 'InvalidAccessKeyId' });
});

test('a signed policy that makes no sense permits nothing', async () => {
  const policies: unknown[] = [
    'text',
    { conditions: [] },
    { expiration: 'tomorrow', conditions: [] },
    { expiration: '2099-01-01T00:00:00Z' },
    { expiration: '2099-01-01T00:00:00Z', conditions: [['ends-with', '$key', 'x']] },
    { expiration: '2099-01-01T00:00:00Z', conditions: [['content-length-range', 'a', 1]] },
  ];
  const signer = createSigner({ credentials, region, clock: () => new Date() });
  for (const policy of policies) {
    const form = await presignPost('senseless');
    const Policy = Buffer.from(JSON.stringify(policy)).toString('base64');
    const signature = await signer.sign(Policy, new Date());
    expect(await submit(form, 'x', { Policy, 'X-Amz-Signature': signature })).toMatchObject({
      status: 400,
      code: 'InvalidPolicyDocument',
    });
  }
});

test('what the store cannot do with a form, it refuses by name', async () => {
  const names = ['acl', 'success_action_redirect', 'success_action_status', 'x-amz-meta-owner'];
  const forms = names.map((name) => [name, 'more', { [name]: 'x' }] as const);
  for (const [name, key, Fields] of [...forms, ['${filename}', 'a/${filename}', {}] as const]) {
    const form = await presignPost(key, { Fields });
    const message = expect.stringContaining(name);
    expect(await submit(form, 'x')).toMatchObject({ status: 501, code: 'NotImplemented', message });
  }
});

test('a checksum field is held against the file', async () => {
  const form = await presignPost('summed', { Fields: { 'x-amz-checksum-crc32': 'jNxd5w==' } });
  expect(await submit(form, 'x')).toMatchObject({ status: 400, code: 'BadDigest' });
});

test('a body that is no form is refused', async () => {
  const post = (body: string, type = 'multipart/form-data; boundary=b') => {
    const headers = { 'content-type': type, 'content-length': String(body.length) };
    return send(store.url, { method: 'POST', path: `/${bucket}`, headers, body });
  };
  expect(await post('nothing')).toMatchObject({ status: 400, code: 'MalformedPOSTRequest' });
  expect(await post('x', 'multipart/form-data')).toMatchObject({ status: 400, code: 'MalformedPOSTRequest' });
  const noFile = '--b\r\ncontent-disposition: form-data; name="key"\r\n\r\nx\r\n--b--\r\n';
  expect(await post(noFile)).toMatchObject({ status: 400, code: 'InvalidArgument' });
  expect(await post('{}', 'application/json')).toMatchObject({ status: 403, code: 'AccessDenied' });
});

test("AWS's documented example of a POST policy has the documented signature", async () => {
  // AWS's text, with its line ends: any other byte gives another signature.
  const text = `{ "expiration": "2015-12-30T12:00:00.000Z",
  "conditions": [
    {"bucket": "sigv4examplebucket"},
    ["starts-with", "$key", "user/user1/"],
    {"acl": "public-read"},
    {"success_action_redirect": "http://sigv4examplebucket.s3.amazonaws.com/successful_upload.html"},
    ["starts-with", "$Content-Type", "image/"],
    {"x-amz-meta-uuid": "14365123651274"},
    {"x-amz-server-side-encryption": "AES256"},
    ["starts-with", "$x-amz-meta-tag", ""],

    {"x-amz-credential": "AKIAIOSFODNN7EXAMPLE/20151229/us-east-1/s3/aws4_request"},
    {"x-amz-algorithm": "AWS4-HMAC-SHA256"},
    {"x-amz-date": "20151229T000000Z" }
  ]
}`;
  const policy = Buffer.from(text.replaceAll('\n', '\r\n')).toString('base64');
  const now = new Date('2015-12-29T12:00:00Z');
  const signer = createSigner({
    credentials: {
      accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
      secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    },
    region: 'us-east-1',
    clock: () => now,
  });
  const documented = '8afdbf4008c03f22c2cd3cdb72e4afbb1f6a588f3255ac628749a66d7f09699e';
  expect(await signer.sign(policy, now)).toBe(documented);
  const fields = new Map([
    ['bucket', 'sigv4examplebucket'],
    ['key', 'user/user1/photo.jpg'],
    ['acl', 'public-read'],
    ['success_action_redirect', 'http://sigv4examplebucket.s3.amazonaws.com/successful_upload.html'],
    ['content-type', 'image/jpeg'],
    ['x-amz-meta-uuid', '14365123651274'],
    ['x-amz-server-side-encryption', 'AES256'],
    ['x-amz-meta-tag', ''],
    ['x-amz-credential', 'AKIAIOSFODNN7EXAMPLE/20151229/us-east-1/s3/aws4_request'],
    ['x-amz-algorithm', 'AWS4-HMAC-SHA256'],
    ['x-amz-date', '20151229T000000Z'],
  ]);
  expect(() => checkPolicy(policy, fields, 4, now)).not.toThrow();
  fields.set('key', 'user/user2/photo.jpg');
  expect(() => checkPolicy(policy, fields, 4, now)).toThrow('Policy Condition failed');
});
