import sharp from 'sharp';
import { v7 as uuidv7 } from 'uuid';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { UploadAnswer } from '../../shared/images/answer-contract.ts';
import { newAccount } from '../support/accounts.ts';
import { expectError } from '../support/answers.ts';
import { lastEvent } from '../support/events.ts';
import { periodTotals, expectCharged } from '../support/period-totals.ts';
import { grant, type Granted } from '../support/grants.ts';
import { copiesOf } from '../support/objects.ts';
import { openImage } from '../support/png.ts';
import { generate, small, stored } from '../support/requests.ts';
import { until } from '../support/until.ts';
import { postFile, samplePhoto, sendFile } from '../support/uploads.ts';
import { sharedService } from '../support/use-service.ts';

// The tests of the workflow and of the fetcher hold what else is done with reference images.

const service = sharedService();
const { table } = service;
const { citrine } = service.ready.identities;
let photo: Buffer;

beforeAll(async () => {
  photo = await samplePhoto();
});

async function opened(key: string, body?: unknown): Promise<UploadAnswer> {
  const answer = await service.api({ method: 'POST', path: '/uploads', key, body });
  expect(answer.status).toBe(201);
  return answer.body;
}

async function uploaded(key: string, file: Uint8Array): Promise<{ uploadId: string }> {
  const upload = await opened(key);
  await sendFile(upload, file);
  return { uploadId: upload.uploadId };
}

const use = (key: string, referenceImages: object[], more: object = {}) =>
  generate(service, key, { identityId: citrine, referenceImages, ...more });

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
    expect(upload.fields['Content-Type']).toBe('application/octet-stream');
    expect((await opened(key)).uploadId).not.toBe(upload.uploadId);
  });

  test('by session is of the license that is named; its keys may use it again, and send it again', async () => {
    const { session, key, license } = await newAccount(service);
    const upload = await opened(session, { licenseId: license.licenseId, contentType: 'image/png' });
    for (const color of ['#204080', '#208040']) {
      await sendFile(upload, await samplePhoto({ color }));
      const answer = await use(key, [{ uploadId: upload.uploadId }]);
      expect(answer).toMatchObject({ status: 200, body: { referenceImagesUsed: 1 } });
    }
  });
});

describe('the form', () => {
  const policy = '{"expiration":"2099-01-01T00:00:00Z","conditions":[]}';

  test.each([
    ['a file of another type than was said', { 'Content-Type': 'text/html' }],
    ['another key', { key: 'generations/lic_x/output-0.png' }],
    ['a policy of one’s own', { Policy: Buffer.from(policy).toString('base64') }],
    ['a field that was not signed', { 'x-amz-meta-mine': 'yes' }],
  ])('does not take %s', async (_what, changed) => {
    const { key } = await grant(table);
    expect((await postFile(await opened(key), photo, changed)).status).toBe(403);
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
});

describe('a reference image', () => {
  test('is used as often as it is sent, its request says so, and is charged as any other', async () => {
    const { key, license } = await grant(table);
    const formats = ['png', 'jpeg', 'webp', 'png'] as const;
    const items = await Promise.all(
      formats.map(async (format) => uploaded(key, await samplePhoto({ format }))),
    );
    const answer = await use(key, items, { referenceMode: 'exact_product', preserveBranding: true });
    expect(answer).toMatchObject({
      status: 200,
      body: { referenceImagesUsed: 4, usage: { creditsCharged: 1 } },
    });
    await openImage(answer.body.outputs[0]);
    expect(await stored(service, key, answer.body.requestId)).toMatchObject({
      status: 'COMPLETED',
      type: 'exact_product',
      referenceMode: 'exact_product',
      preserveBranding: true,
      referenceImagesUsed: 4,
    });
    await expectCharged(table, license, 1);
  });

  /** The unit tests of the image formats hold all that may be wrong with a file. */
  const tooSmall = sharp({ create: { width: 64, height: 63, channels: 3, background: '#808080' } });

  test('that is refused is named, and costs nothing', async () => {
    const { key, license } = await grant(table);
    const items = [await uploaded(key, photo), await uploaded(key, await tooSmall.png().toBuffer())];
    const answer = await use(key, items);
    expectError(answer, 400, 'INVALID_PARAMETERS');
    expect(answer.body.error).toMatch(/^referenceImages\[1\]\.uploadId: [^[]*64 to 8192[^[]*$/);
    expect(await periodTotals(table, license)).toEqual({ used: 0, committed: 0 });
    expect((await service.api({ path: '/generate', key })).body.generations).toEqual([]);
    expect(copiesOf(service.dataDir, license)).toEqual([]);
  });

  describe('after it is accepted, where the model can not decode it:', () => {
    const errorMessage =
      'referenceImages[1]: must be an undamaged image that shows something: the model could not read it.';
    const error = `${errorMessage} Nothing was charged.`;
    const asked = async (key: string, headers = {}) => {
      const good = photo;
      const broken = Buffer.from(good).fill(0x55, 60);
      const items = [await uploaded(key, good), await uploaded(key, broken)];
      const body = { ...small, identityId: citrine, referenceImages: items };
      return service.api({ path: '/generate', key, body, headers });
    };
    const expectStored = async ({ key, license }: Granted, requestId: string) => {
      const record = await stored(service, key, requestId);
      const nothing = { outputs: [], creditsCharged: 0, referenceImagesUsed: 0 };
      expect(record).toMatchObject({
        status: 'FAILED',
        errorCode: 'INVALID_PARAMETERS',
        errorMessage,
        ...nothing,
      });
      expect(await periodTotals(table, license)).toEqual({ used: 0, committed: 0 });
      await until('no copy is left', () => copiesOf(service.dataDir, license).length === 0);
    };

    test('on the line', async () => {
      const granted = await grant(table);
      const answer = await asked(granted.key);
      expectError(answer, 400, 'INVALID_PARAMETERS');
      expect(answer.body.error).toBe(error);
      await expectStored(granted, answer.headers.get('x-request-id')!);
    });

    test('with events', async () => {
      const granted = await grant(table);
      const { body, headers } = await asked(granted.key, { accept: 'text/event-stream' });
      const data = { code: 'INVALID_PARAMETERS', status: 400, error };
      expect(lastEvent(body)).toEqual({ event: 'failed', data });
      await expectStored(granted, headers.get('x-request-id')!);
    });

    test('asynchronously', async () => {
      const granted = await grant(table);
      const { status: told, body } = await asked(granted.key, { prefer: 'respond-async' });
      expect(told).toBe(202);
      const status = async () => (await stored(service, granted.key, body.requestId)).status;
      await until('it has ended', async () => (await status()) === 'FAILED');
      await expectStored(granted, body.requestId);
    });
  });

  test('is its license’s and nobody else’s, in the same words as one that nobody has', async () => {
    const [owner, stranger] = [await grant(table), await grant(table)];
    const item = await uploaded(owner.key, photo);
    const theirs = await use(stranger.key, [item]);
    const nobodys = await use(stranger.key, [{ uploadId: `upl_${uuidv7()}` }]);
    expectError(theirs, 400, 'INVALID_PARAMETERS');
    expect(theirs.body).toEqual(nobodys.body);
    expect(theirs.body.error).toMatch(/^referenceImages\[0\]\.uploadId: names no file/);
  });
});
