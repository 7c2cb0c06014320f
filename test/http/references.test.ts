import sharp from 'sharp';
import { v7 as uuidv7 } from 'uuid';
import { describe, expect, test } from '@jest/globals';
import type { UploadAnswer } from '../../shared/images/answer-contract.ts';
import { expectError } from '../support/answers.ts';
import { lastEvent } from '../support/events.ts';
import { copiesOf } from '../support/objects.ts';
import { openImage } from '../support/png.ts';
import { small } from '../support/requests.ts';
import type { ApiAnswer } from '../support/service.ts';
import { until } from '../support/until.ts';
import { dataUri, postFile, samplePhoto, sendFile } from '../support/uploads.ts';
import { identities, newAccount, service, type Account } from './fixture.ts';

// The tests of the workflow and of the fetcher hold what else is done with reference images.

const { citrine } = identities;
const photo = await samplePhoto();

async function opened(send: Account['byKey'], body?: object): Promise<UploadAnswer> {
  const answer = await send('/uploads', { method: 'POST', body });
  expect(answer.status).toBe(201);
  return answer.body;
}

async function uploaded({ byKey }: Account, file: Uint8Array): Promise<{ uploadId: string }> {
  const upload = await opened(byKey);
  await sendFile(upload, file);
  return { uploadId: upload.uploadId };
}

const use = ({ generate }: Account, referenceImages: object[], more: object = {}): Promise<ApiAnswer> =>
  generate({ identityId: citrine, referenceImages, ...more });

describe('POST /uploads', () => {
  test('answers a form, what it is called, how large the file may be and until when', async () => {
    const { byKey, license } = await newAccount();
    const beforeMs = Date.now();
    const upload = await opened(byKey);
    expect(Object.keys(upload).sort()).toEqual(['expiresAt', 'fields', 'maxBytes', 'uploadId', 'url']);
    expect(upload.maxBytes).toBe(10 * 1024 * 1024);
    expect(Date.parse(upload.expiresAt)).toBeGreaterThanOrEqual(beforeMs + 3_600_000);
    expect(Date.parse(upload.expiresAt)).toBeLessThanOrEqual(Date.now() + 3_600_000);
    expect(upload.fields.key).toBe(`uploads/${license.licenseId}/${upload.uploadId}`);
    expect(upload.fields['Content-Type']).toBe('application/octet-stream');
  });

  test('by session is of the license that is named; its keys may use it again, and send it again', async () => {
    const own = await newAccount();
    const { licenseId } = own.license;
    const upload = await opened(own.bySession, { licenseId, contentType: 'image/png' });
    for (const color of ['#204080', '#208040']) {
      await sendFile(upload, await samplePhoto({ color }));
      const answer = await use(own, [{ uploadId: upload.uploadId }]);
      expect(answer).toMatchObject({ status: 200, body: { referenceImagesUsed: 1 } });
    }
  });
});

// The tests of the local S3 hold that a policy can't be another one, nor a field added.
describe('the form', () => {
  test.each([
    ['a file of another type than was said', { 'Content-Type': 'text/html' }],
    ['another key', { key: 'generations/lic_x/output-0.png' }],
  ])('does not take %s', async (_what, changed) => {
    const { byKey } = await newAccount();
    expect((await postFile(await opened(byKey), photo, changed)).status).toBe(403);
  });

  test('takes a file of its largest size, and not one byte more or none at all', async () => {
    const { byKey } = await newAccount();
    const upload = await opened(byKey);
    expect((await postFile(upload, new Uint8Array(upload.maxBytes))).status).toBe(204);
    for (const bytes of [0, upload.maxBytes + 1]) {
      const answer = await postFile(await opened(byKey), new Uint8Array(bytes));
      expect({ bytes, status: answer.status }).toEqual({ bytes, status: 400 });
    }
  });
});

describe('a reference image', () => {
  test('is used as often as it is sent, its request says so, and is charged as any other', async () => {
    const own = await newAccount();
    const formats = ['png', 'jpeg', 'webp', 'png'] as const;
    const items = formats.map(async (format) => uploaded(own, await samplePhoto({ format })));
    const exact = { referenceMode: 'exact_product', preserveBranding: true };
    const { status, body } = await use(own, await Promise.all(items), exact);
    const used = { referenceImagesUsed: 4 };
    expect([status, body]).toMatchObject([200, { ...used, usage: { creditsCharged: 1 } }]);
    await openImage(body.outputs[0]);
    const record = { status: 'COMPLETED', type: 'exact_product', ...exact, ...used };
    expect(await own.stored(body.requestId)).toMatchObject(record);
    await own.expectCharged(1);
  });

  test('may be a data: URI wherever one is named, and is judged as any other', async () => {
    const own = await newAccount();
    const sent = { identityId: citrine, referenceImages: [{ url: dataUri(photo) }] };
    const body = { ...small, ...sent };
    for (const answer of [await own.generate(sent), await own.play(sent)])
      expect(answer).toMatchObject({ status: 200, body: { referenceImagesUsed: 1 } });
    expect((await own.byKey('/generate?dryRun=true', { body })).body).toMatchObject({ accepted: true });
    expect((await own.tool('generate', body)).structuredContent).toMatchObject({ referenceImagesUsed: 1 });
    const refused = await use(own, [{ url: dataUri(photo) }, { url: 'data:image/png;base64,eA==' }]);
    expectError(refused, 400, 'INVALID_PARAMETERS');
    expect(refused.body.error).toBe('referenceImages[1].url: must be a PNG, JPEG or WebP image.');
    await own.expectCharged(3);
    expect(copiesOf(service.dataDir, own.license)).toEqual([]);
  });

  /** The unit tests of the image formats hold all that may be wrong with a file. */
  const tooSmall = sharp({ create: { width: 64, height: 63, channels: 3, background: '#808080' } });

  test('that is refused is named, and costs nothing', async () => {
    const own = await newAccount();
    const items = [await uploaded(own, photo), await uploaded(own, await tooSmall.png().toBuffer())];
    const answer = await use(own, items);
    expectError(answer, 400, 'INVALID_PARAMETERS');
    expect(answer.body.error).toMatch(/^referenceImages\[1\]\.uploadId: [^[]*64 to 8192[^[]*$/);
    await own.expectCharged(0);
    expect((await own.byKey('/generate')).body.generations).toEqual([]);
    expect(copiesOf(service.dataDir, own.license)).toEqual([]);
  });

  describe('after it is accepted, where the model can not decode it, is refused', () => {
    const errorMessage =
      'referenceImages[1]: must be an undamaged image that shows something: the model could not read it.';
    const error = `${errorMessage} Nothing was charged.`;
    const failed = { status: 400, code: 'INVALID_PARAMETERS', error };

    test.each<[string, Record<string, string>, (answer: ApiAnswer) => void]>([
      ['on the line', {}, ({ status, body }) => expect({ status, ...body }).toEqual(failed)],
      [
        'with events',
        { accept: 'text/event-stream' },
        ({ body }) => expect(lastEvent(body)).toEqual({ event: 'failed', data: failed }),
      ],
      ['asynchronously', { prefer: 'respond-async' }, ({ status }) => expect(status).toBe(202)],
    ])('%s', async (_way, headers, expectAnswer) => {
      const own = await newAccount();
      const broken = Buffer.from(photo).fill(0x55, 60);
      const referenceImages = [await uploaded(own, photo), await uploaded(own, broken)];
      const body = { ...small, identityId: citrine, referenceImages };
      const answer = await own.byKey('/generate', { body, headers });
      expectAnswer(answer);
      const record = () => own.stored(answer.headers.get('x-request-id')!);
      await until('it has ended', async () => (await record()).status === 'FAILED');
      const nothing = { outputs: [], creditsCharged: 0, referenceImagesUsed: 0 };
      expect(await record()).toMatchObject({ errorCode: 'INVALID_PARAMETERS', errorMessage, ...nothing });
      await own.expectCharged(0);
      await until('no copy is left', () => copiesOf(service.dataDir, own.license).length === 0);
    });
  });

  test('is its license’s and nobody else’s, in the same words as one that nobody has', async () => {
    const [owner, stranger] = [await newAccount(), await newAccount()];
    const theirs = await use(stranger, [await uploaded(owner, photo)]);
    const nobodys = await use(stranger, [{ uploadId: `upl_${uuidv7()}` }]);
    expectError(theirs, 400, 'INVALID_PARAMETERS');
    expect(theirs.body).toEqual(nobodys.body);
    expect(theirs.body.error).toMatch(/^referenceImages\[0\]\.uploadId: names no file/);
  });
});
