import { randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { UploadAnswer } from '../../shared/contracts/upload.ts';
import type { License } from '../../shared/domain/license.ts';
import type { Table } from '../../shared/store/table.ts';
import { expectError } from '../support/answers.ts';
import { grant, issueKey, tableOf } from '../support/grants.ts';
import { generate } from '../support/requests.ts';
import { removeFolder, startService, type RunningService } from '../support/service.ts';
import { sessionOf } from '../support/sessions.ts';
import { postFile, samplePhoto, sendFile } from '../support/uploads.ts';

let service: RunningService;
let table: Table;
let citrine: string;
let photo: Buffer;

beforeAll(async () => {
  service = await startService();
  table = tableOf(service.dataDir);
  citrine = service.ready.identities.citrine!;
  photo = await samplePhoto();
});

afterAll(async () => {
  await service.end();
  removeFolder(service.dataDir);
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
    const upload = await opened(key);
    expect(Object.keys(upload).sort()).toEqual(['expiresAt', 'fields', 'maxBytes', 'uploadId', 'url']);
    expect(upload.maxBytes).toBe(10 * 1024 * 1024);
    const lifeMs = Date.parse(upload.expiresAt) - Date.now();
    expect(lifeMs).toBeGreaterThan(3_590_000);
    expect(lifeMs).toBeLessThanOrEqual(3_600_000);
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
    ['a type that is no text', { contentType: 7 }, 'contentType must be one of'],
    ['a license, which a key has already', { licenseId: 'lic_x' }, 'unknown member "licenseId"'],
    ['an unknown member', { contenttype: 'image/png' }, 'unknown member "contenttype"'],
  ])('refuses %s', async (_what, body, sentence) => {
    const { key } = await grant(table);
    const answer = await openUpload(key, body);
    expectError(answer, 400, 'INVALID_PARAMETERS');
    expect(answer.body.error).toContain(sentence);
  });

  test('refuses a body that is no JSON object, and a query', async () => {
    const { key } = await grant(table);
    expectError(await openUpload(key, '[]'), 400, 'INVALID_BODY');
    expectError(await service.api({ method: 'POST', path: '/uploads?x=1', key }), 400, 'INVALID_PARAMETERS');
  });

  test('is limited to 40 in a minute for one key', async () => {
    const { key, license } = await grant(table);
    const answers = await Promise.all(Array.from({ length: 41 }, () => openUpload(key)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(40);
    expectError(
      answers.find(({ status }) => status !== 201)!,
      429,
      'RATE_LIMITED',
    );
    const other = await issueKey(table, license);
    expect((await openUpload(other.key)).headers.get('ratelimit')).toMatch(/^"upload";r=39;t=\d+$/);
  });
});

describe('by session', () => {
  async function account(changes: Partial<License> = {}) {
    const sub = randomUUID();
    const [token, granted] = [
      await sessionOf(service.dataDir, { sub }),
      await grant(table, { ownerId: sub, ...changes }),
    ];
    return { token, ...granted };
  }

  test('an upload is of the license that is named, and its keys may use it', async () => {
    const { token, key, license } = await account();
    const upload = await opened(token, { licenseId: license.licenseId, contentType: 'image/png' });
    await sendFile(upload, photo);
    expect((await use(key, upload.uploadId)).status).toBe(200);
  });

  test('no license, another account’s and one that is over get none', async () => {
    const { token } = await account();
    const [stranger, ended] = [await account(), await account({ status: 'ended' })];
    expectError(await openUpload(token, {}), 400, 'INVALID_PARAMETERS');
    expectError(await openUpload(token), 400, 'INVALID_PARAMETERS');
    expectError(await openUpload(token, { licenseId: stranger.license.licenseId }), 404, 'LICENSE_NOT_FOUND');
    const over = { licenseId: ended.license.licenseId };
    expectError(await openUpload(ended.token, over), 403, 'LICENSE_INACTIVE');
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

  test('that was opened more than an hour ago is over', async () => {
    const { key } = await grant(table);
    const late = await use(key, `upl_${uuidv7({ msecs: Date.now() - 3_600_001 })}`);
    expectError(late, 400, 'INVALID_PARAMETERS');
    expect(late.body.error).toMatch(/^referenceImages\[0\]\.uploadId: was opened more than an hour ago/);
  });

  test.each([
    'u',
    '../../adapters/x',
    `upl_${'0'.repeat(36)}`,
    'upl_01A1FF51-0026-7161-9A96-B08BCD441B2C',
    '/',
    'upl_\n',
  ])('is not %j', async (uploadId) => {
    const { key } = await grant(table);
    const answer = await use(key, uploadId);
    expectError(answer, 400, 'INVALID_PARAMETERS');
    expect(answer.body.error).toMatch(/^referenceImages\[0\]\.uploadId: is not an upload/);
  });
});
