import sharp from 'sharp';
import { describe, expect, test } from '@jest/globals';
import { expectError } from '../support/answers.ts';
import { lastEvent } from '../support/events.ts';
import { periodTotals, expectCharged } from '../support/period-totals.ts';
import { grant, type Granted } from '../support/grants.ts';
import { copiesOf, objectsOf } from '../support/objects.ts';
import { openImage } from '../support/png.ts';
import { generate, small, stored } from '../support/requests.ts';
import { until } from '../support/until.ts';
import { samplePhoto, sendFile } from '../support/uploads.ts';
import { sharedService } from '../support/use-service.ts';

const service = sharedService();
const { table } = service;
const { identities } = service.ready;

async function uploaded(key: string, file: Uint8Array): Promise<{ uploadId: string }> {
  const { body } = await service.api({ method: 'POST', path: '/uploads', key });
  await sendFile(body, file);
  return { uploadId: body.uploadId };
}

const withImages = (key: string, referenceImages: object[], more: object = {}) =>
  generate(service, key, { identityId: identities.citrine, referenceImages, ...more });

describe('a generation with reference images', () => {
  test('uses them, says so, and is charged as any other', async () => {
    const { key, license } = await grant(table);
    const formats = ['png', 'jpeg', 'webp', 'png'] as const;
    const items = await Promise.all(
      formats.map(async (format) => uploaded(key, await samplePhoto({ format }))),
    );
    const answer = await withImages(key, items, { referenceMode: 'exact_product', preserveBranding: true });
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

  test('leaves no copy of them once it is answered', async () => {
    const { key, license } = await grant(table);
    const item = await uploaded(key, await samplePhoto());
    const answer = await withImages(key, [item, item]);
    expect([answer.status, answer.body.referenceImagesUsed]).toEqual([200, 2]);
    const places = objectsOf(service.dataDir, license).map(({ key: place }) => place);
    expect(places.toSorted()).toEqual([
      `generations/${license.licenseId}/${answer.body.requestId}/output-0.png`,
      `generations/${license.licenseId}/${answer.body.requestId}/preview-0.webp`,
      `uploads/${license.licenseId}/${item.uploadId}`,
    ]);
  });

  test('that is refused for its tier or its credits stores nothing, tried or sent', async () => {
    const poor = await grant(table, { creditsLimit: 1 });
    const starter = await grant(table, { tier: 'starter' });
    const attacks = [
      ['CREDIT_LIMIT_EXCEEDED', poor, { numOutputs: 2 }],
      ['TIER_LIMIT', starter, { width: 2048, height: 2048 }],
    ] as const;
    for (const [code, { key, license }, more] of attacks) {
      const items = await Promise.all([1, 2, 3, 4].map(async () => uploaded(key, await samplePhoto())));
      const before = objectsOf(service.dataDir, license).length;
      const answers = await Promise.all([1, 2, 3].map(() => withImages(key, items, more)));
      for (const answer of answers) expect(answer.body.code).toBe(code);
      expect([before, objectsOf(service.dataDir, license).length]).toEqual([4, 4]);
    }
  });
});

describe('an image that is refused costs nothing and is named', () => {
  const png = () => samplePhoto();
  const gif = async () =>
    sharp(await png())
      .gif()
      .toBuffer();
  /** The unit test of images holds all that may be wrong with a file. */
  test('before it is accepted, where its size is out of the limits', async () => {
    const { key, license } = await grant(table);
    const wide = await samplePhoto({ widthPx: 8193, heightPx: 64 });
    const items = [await uploaded(key, await png()), await uploaded(key, wide)];
    const answer = await withImages(key, items);
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
      const good = await png();
      const broken = Buffer.from(good).fill(0x55, 60);
      const items = [await uploaded(key, good), await uploaded(key, broken)];
      const body = { ...small, identityId: identities.citrine, referenceImages: items };
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

  test('every one of them is named at once', async () => {
    const { key } = await grant(table);
    const items = [
      { url: 'https://nobody.invalid/a.png' },
      await uploaded(key, await gif()),
      { uploadId: 'u' },
      await uploaded(key, await png()),
    ];
    const answer = await withImages(key, items);
    expectError(answer, 400, 'INVALID_PARAMETERS');
    expect(answer.body.error).toMatch(
      /^referenceImages\[0\]\.url: [^[]*\. referenceImages\[1\]\.uploadId: [^[]*\. referenceImages\[2\]\.uploadId: [^[]*\.$/,
    );
  });
});

test('a machine without a way out answers soon what can not be fetched, and tells nothing of the network', async () => {
  const { key } = await grant(table);
  const items = ['https://nobody.invalid/a.png', 'https://localhost.localdomain/', 'https://a.internal/'];
  const answer = await withImages(
    key,
    items.map((url) => ({ url })),
  );
  expectError(answer, 400, 'INVALID_PARAMETERS');
  const told = answer.body.error.split(/referenceImages\[\d\]\.url/).map((one: string) => one.trim());
  expect(told).toHaveLength(4);
  expect(new Set(told.slice(1)).size).toBe(1);
});
