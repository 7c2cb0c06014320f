import { randomBytes } from 'node:crypto';
import { GetObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { checkPolicy } from '../../../local/s3/post-policy.ts';
import { createSigner } from '../../../local/s3/signature.ts';
import { presignPost, submit } from './post-form.ts';
import type { TestStore } from './support.ts';
import { bucket, credentials, send, startStore } from './support.ts';

let store: TestStore;
/** Objects that the tests meant to store; a refused form adds none. */
let stored = 0;
const maxObjectBytes = 2 * 1024 * 1024;

beforeAll(async () => void (store = await startStore({ maxObjectBytes })));
afterAll(() => store.close());
afterEach(async () => {
  const listing = await store.client.send(new ListObjectsV2Command({ Bucket: bucket }));
  expect(listing.KeyCount).toBe(stored);
  expect(await store.files()).toHaveLength(stored);
});

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

test('a form uploads its file under its key with its content type and metadata', async () => {
  const body = randomBytes(100_000);
  const fields = { 'Content-Type': 'image/png', 'x-amz-meta-license': 'lic_1' };
  const form = await presignPost(store.url, 'uploads/one.png', { fields });
  const { status, headers } = await accepted(form, body);
  expect(status).toBe(204);
  const answer = await store.client.send(new GetObjectCommand({ Bucket: bucket, Key: 'uploads/one.png' }));
  expect(body.equals((await answer.Body?.transformToByteArray()) ?? Buffer.alloc(0))).toBe(true);
  expect(answer).toMatchObject({ ContentType: 'image/png', Metadata: { license: 'lic_1' } });
  expect(headers.get('etag')).toBe(answer.ETag);
});

test('success_action_status chooses the answer', async () => {
  const answered = async (wanted: string) => {
    const form = await presignPost(store.url, `status ${wanted}`, {
      fields: { success_action_status: wanted },
    });
    return accepted(form, 'x');
  };
  expect(await answered('200')).toMatchObject({ status: 200, xml: '' });
  const created = await answered('201');
  expect(created.status).toBe(201);
  expect(created.xml).toContain('<Key>status 201</Key>');
  expect(created.xml).toContain(`<Location>${store.url}/${bucket}/status%20201</Location>`);
  expect(await answered('404')).toMatchObject({ status: 204 });
});

test('the file must lie within content-length-range, both ends included', async () => {
  const conditions = [['content-length-range', 10, 20]];
  const sized = async (bytes: number) => {
    const form = await presignPost(store.url, `sized ${bytes}`, { conditions });
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
  const form = await presignPost(store.url, 'large');
  expect(await accepted(form, Buffer.alloc(maxObjectBytes))).toMatchObject({ status: 204 });
  expect(await submit(form, Buffer.alloc(maxObjectBytes + 1))).toMatchObject({ code: 'EntityTooLarge' });
  expect(await submit(form, Buffer.alloc(maxObjectBytes + 100_000))).toMatchObject({
    code: 'EntityTooLarge',
  });
});

test('a form cannot be sent after its policy has expired', async () => {
  const form = await presignPost(store.url, 'late', { expiresSeconds: 60 });
  try {
    store.advance(61_000);
    expect(await submit(form, 'x')).toMatchObject(refusedByPolicy('Policy expired.'));
  } finally {
    store.advance(-61_000);
  }
  expect(await accepted(form, 'x')).toMatchObject({ status: 204 });
});

test('no field can differ from the policy, be missing, or be added', async () => {
  const form = await presignPost(store.url, 'mine.png', { fields: { 'Content-Type': 'image/png' } });
  const refused = (changes: Record<string, string | undefined>) => submit(form, 'x', changes);
  expect(await refused({ key: 'yours.png' })).toMatchObject(refusedByPolicy('Policy Condition failed'));
  expect(await refused({ 'Content-Type': 'text/html' })).toMatchObject(
    refusedByPolicy('Policy Condition failed'),
  );
  expect(await refused({ 'Content-Type': undefined })).toMatchObject(
    refusedByPolicy('Policy Condition failed'),
  );
  const extra = refusedByPolicy('Extra input fields: x-amz-meta-owner');
  expect(await refused({ 'x-amz-meta-owner': 'me' })).toMatchObject(extra);
  expect(await refused({ success_action_status: '200' })).toMatchObject(
    refusedByPolicy('Extra input fields'),
  );
  const elsewhere = { ...form, url: `${store.url}/other` };
  expect(await submit(elsewhere, 'x')).toMatchObject(refusedByPolicy('Policy Condition failed'));
  expect(await accepted(form, 'x', { 'x-ignore-token': 'anything' })).toMatchObject({ status: 204 });
});

test('starts-with takes what begins so, and each type of a list must', async () => {
  const conditions = [
    ['starts-with', '$key', 'uploads/lic_1/'],
    ['starts-with', '$Content-Type', 'image/'],
  ];
  const policy = (whole: Record<string, unknown>) => {
    const fixed = (whole['conditions'] as unknown[]).filter(
      (item) => Array.isArray(item) || !('key' in (item as object)),
    );
    return { ...whole, conditions: fixed };
  };
  const form = await presignPost(store.url, 'uploads/lic_1/${filename}', { conditions, policy });
  const typed = { 'Content-Type': 'image/webp' };
  expect(await accepted(form, 'x', typed, 'cat 1.webp')).toMatchObject({ status: 204 });
  const { Body } = await store.client.send(
    new GetObjectCommand({ Bucket: bucket, Key: 'uploads/lic_1/cat 1.webp' }),
  );
  expect(await Body?.transformToString()).toBe('x');
  const failed = refusedByPolicy('Policy Condition failed');
  expect(await submit(form, 'x', { ...typed, key: 'uploads/lic_2/a' })).toMatchObject(failed);
  for (const type of ['text/html', '', 'image/png, text/html', ' image']) {
    expect(await submit(form, 'x', { 'Content-Type': type })).toMatchObject(failed);
  }
});

test('a policy is only as good as its signature', async () => {
  const form = await presignPost(store.url, 'signed');
  const looser = Buffer.from(JSON.stringify({ expiration: '2099-01-01T00:00:00Z', conditions: [] }));
  const changed = { Policy: looser.toString('base64') };
  expect(await submit(form, 'x', changed)).toMatchObject({ status: 403, code: 'SignatureDoesNotMatch' });
  const guessed = { credentials: { ...credentials, secretAccessKey: 'guessed' } };
  const forged = await presignPost(store.url, 'signed', guessed);
  expect(await submit(forged, 'x')).toMatchObject({ status: 403, code: 'SignatureDoesNotMatch' });
  const unsigned = { Policy: undefined, 'X-Amz-Signature': undefined };
  expect(await submit(form, 'x', unsigned)).toMatchObject({ status: 403, code: 'AccessDenied' });
  const stranger = { credentials: { ...credentials, accessKeyId: 'AKIDOTHER' } };
  expect(await submit(await presignPost(store.url, 'signed', stranger), 'x')).toMatchObject({
    status: 403,
    code: 'InvalidAccessKeyId',
  });
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
  for (const policy of policies) {
    const form = await presignPost(store.url, 'senseless', { policy: () => policy });
    expect(await submit(form, 'x')).toMatchObject({ status: 400, code: 'InvalidPolicyDocument' });
  }
});

test('what the store cannot do with a form, it refuses by name', async () => {
  for (const name of ['acl', 'success_action_redirect', 'tagging']) {
    const form = await presignPost(store.url, 'more', { fields: { [name]: 'x' } });
    const message = expect.stringContaining(name);
    expect(await submit(form, 'x')).toMatchObject({ status: 501, code: 'NotImplemented', message });
  }
});

test('a checksum field is held against the file', async () => {
  const form = await presignPost(store.url, 'summed', { fields: { 'x-amz-checksum-crc32': 'jNxd5w==' } });
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
  const lines = [
    '{ "expiration": "2015-12-30T12:00:00.000Z",',
    '  "conditions": [',
    '    {"bucket": "sigv4examplebucket"},',
    '    ["starts-with", "$key", "user/user1/"],',
    '    {"acl": "public-read"},',
    '    {"success_action_redirect": "http://sigv4examplebucket.s3.amazonaws.com/successful_upload.html"},',
    '    ["starts-with", "$Content-Type", "image/"],',
    '    {"x-amz-meta-uuid": "14365123651274"},',
    '    {"x-amz-server-side-encryption": "AES256"},',
    '    ["starts-with", "$x-amz-meta-tag", ""],',
    '',
    '    {"x-amz-credential": "AKIAIOSFODNN7EXAMPLE/20151229/us-east-1/s3/aws4_request"},',
    '    {"x-amz-algorithm": "AWS4-HMAC-SHA256"},',
    '    {"x-amz-date": "20151229T000000Z" }',
    '  ]',
    '}',
  ];
  const policy = Buffer.from(lines.join('\r\n')).toString('base64');
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
