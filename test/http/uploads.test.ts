import { v7 as uuidv7 } from 'uuid';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { UploadAnswer } from '../../shared/images/answer-contract.ts';
import { newAccount } from '../support/accounts.ts';
import { expectError } from '../support/answers.ts';
import { grant } from '../support/grants.ts';
import { generate } from '../support/requests.ts';
import { postFile, samplePhoto, sendFile } from '../support/uploads.ts';
import { sharedService } from '../support/use-service.ts';

const service = sharedService();
const { table } = service;
let citrine: string;
let photo: Buffer;

beforeAll(async () => {
  citrine = service.ready.identities.citrine!;
  photo = await samplePhoto();
});

const openUpload = (key: string, body?: unknown) =>
  service.api({ method: 'POST', path: '/uploads', key, body });
const use = (key: string, uploadId: string, more: object = {}) =>
  generate(service, key, { identityId: citrine, referenceImages: [{ uploadId }], ...more });

async function opened(key: string, body?: unknown): Promise<UploadAnswer> {
  const answer = await openUpload(key, body);
  expect(answer.status).toBe(201);
  return answer.body;
}

describe('POST /uploads', () => {
  test('answers a form, what it is called, how large the file may be and until when', async () => {
    const { key, license } = await grant(table);
    const beforeMs = Date.now();
    const upload = await opened(key);
    expect(Object.keys(upload).sort()).toEqual(['expiresAt', 'fields', 'maxBytes', 'uploadId', 'url']);
    expect(upload.maxBytes).toBe(10 * 1024 * 1024);
    expect(Date.parse(upload.expiresAt)).toBeGreaterThanOrEqual(beforeMs + 3_600_000);
    expect(Date.parse(upload.expiresAt)).toBeLessThanOrEqual(Date.now() + 3_600_000);
    expect(upload.fields.key).toBe(`uploads/${license.licenseId}/${upload.uploadId}`);
    expect((await opened(key)).uploadId).not.toBe(upload.uploadId);
  });

  test('needs no body by key, and takes the type of the file', async () => {
    const { key } = await grant(table);
    expect((await opened(key)).fields['Content-Type']).toBe('application/octet-stream');
    expect((await opened(key, {})).fields['Content-Type']).toBe('application/octet-stream');
    expect((await opened(key, { contentType: 'image/webp' })).fields['Content-Type']).toBe('image/webp');
  });

  test.each([
    ['a type that is no picture’s', { contentType: 'text/html' }, 'contentType must be one of'],
    ['a license, which a key has already', { licenseId: 'lic_x' }, 'unknown member "licenseId"'],
  ])('refuses %s', async (_what, body, sentence) => {
    const { key } = await grant(table);
    const answer = await openUpload(key, body);
    expectError(answer, 400, 'INVALID_PARAMETERS');
    expect(answer.body.error).toContain(sentence);
  });
});

describe('by session', () => {
  test('an upload is of the license that is named, and its keys may use it', async () => {
    const { session, key, license } = await newAccount(service);
    const upload = await opened(session, { licenseId: license.licenseId, contentType: 'image/png' });
    await sendFile(upload, photo);
    expect((await use(key, upload.uploadId)).status).toBe(200);
  });

  test('a license that is over gets none', async () => {
    const { session, license } = await newAccount(service, { status: 'ended' });
    const answer = await openUpload(session, { licenseId: license.licenseId });
    expectError(answer, 403, 'LICENSE_INACTIVE');
  });
});

describe('the form', () => {
  test.each([
    ['a file of another type than was said', { 'Content-Type': 'text/html' }],
    ['another key', { key: 'generations/lic_x/output-0.png' }],
    [
      'a policy of one’s own',
      { Policy: Buffer.from('{"expiration":"2099-01-01T00:00:00Z","conditions":[]}').toString('base64') },
    ],
    ['a field that was not signed', { 'x-amz-meta-mine': 'yes' }],
  ])('does not take %s', async (_what, changed) => {
    const { key } = await grant(table);
    const upload = await opened(key);
    expect((await postFile(upload, photo, changed)).status).toBe(403);
    expectError(await use(key, upload.uploadId), 400, 'INVALID_PARAMETERS');
  });

  test('takes a file of its largest size, and not one byte more or none at all', async () => {
    const { key } = await grant(table);
    const upload = await opened(key);
    expect((await postFile(upload, new Uint8Array(upload.maxBytes))).status).toBe(204);
    for (const bytes of [0, upload.maxBytes + 1]) {
      const answer = await postFile(await opened(key), new Uint8Array(bytes));
      expect({ bytes, status: answer.status }).toEqual({ bytes, status: 400 });
    }
  });

  test('may be sent by a page of any origin', async () => {
    const { key } = await grant(table);
    const { url } = await opened(key);
    const preflight = await fetch(url, {
      method: 'OPTIONS',
      headers: { origin: 'https://a.example', 'access-control-request-method': 'POST' },
    });
    expect(preflight.status).toBe(200);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
  });
});

describe('an upload', () => {
  test('can be used again within its hour, and sent again', async () => {
    const { key } = await grant(table);
    const upload = await opened(key);
    for (const color of ['#204080', '#208040']) {
      await sendFile(upload, await samplePhoto({ color }));
      const answer = await use(key, upload.uploadId);
      expect(answer).toMatchObject({ status: 200, body: { referenceImagesUsed: 1 } });
    }
  });

  test('is its license’s and nobody else’s, in the same words as one that nobody has', async () => {
    const [owner, stranger] = [await grant(table), await grant(table)];
    const upload = await opened(owner.key);
    await sendFile(upload, photo);
    const [theirs, nobodys] = await Promise.all([
      use(stranger.key, upload.uploadId),
      use(stranger.key, `upl_${uuidv7()}`),
    ]);
    expectError(theirs, 400, 'INVALID_PARAMETERS');
    expect(theirs.body).toEqual(nobodys.body);
    expect(theirs.body.error).toMatch(/^referenceImages\[0\]\.uploadId: names no file/);
  });
});
