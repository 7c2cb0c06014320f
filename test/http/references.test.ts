import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { License } from '../../shared/domain/license.ts';
import type { Table } from '../../shared/store/table.ts';
import { expectError } from '../support/answers.ts';
import { books, expectCharged } from '../support/books.ts';
import { grant, tableOf } from '../support/grants.ts';
import { openImage } from '../support/png.ts';
import { generate, small, stored } from '../support/requests.ts';
import { removeFolder, startService, type RunningService } from '../support/service.ts';
import { sessionOf } from '../support/sessions.ts';
import { samplePhoto, sendFile } from '../support/uploads.ts';

let service: RunningService;
let table: Table;
let identities: Record<string, string>;

beforeAll(async () => {
  service = await startService();
  table = tableOf(service.dataDir);
  identities = service.ready.identities;
});

afterAll(async () => {
  await service.end();
  removeFolder(service.dataDir);
});

async function uploaded(key: string, file: Uint8Array): Promise<{ uploadId: string }> {
  const { body } = await service.api({ method: 'POST', path: '/uploads', key });
  await sendFile(body, file);
  return { uploadId: body.uploadId };
}

const withImages = (key: string, referenceImages: object[], more: object = {}) =>
  generate(service, key, { identityId: identities.citrine, referenceImages, ...more });

/** What lies in the bucket under a license's requests: each file has its key in it (local/s3/store.ts). */
function copiesOf({ licenseId }: License): { key: string; file: Buffer }[] {
  const root = join(service.dataDir, 'objects');
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)))
    .flatMap((file) => {
      const key = /"key":"(generations\/[^"]+)"/.exec(file.toString('latin1'))?.[1] ?? '';
      return key.includes(`/${licenseId}/`) && key.includes('/reference-') ? [{ key, file }] : [];
    });
}

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

  test('is another picture than without them, and the same each time', async () => {
    const { key } = await grant(table);
    const items = [await uploaded(key, await samplePhoto({ color: '#2050c0' }))];
    const seeded = { seed: 7 };
    const links = await Promise.all(
      [items, items, []].map(async (some) => (await withImages(key, some, seeded)).body.outputs[0]),
    );
    const [one, two, without] = await Promise.all(links.map(openImage));
    expect(one!.equals(two!)).toBe(true);
    expect(one!.equals(without!)).toBe(false);
  });

  test('tells of them by events too', async () => {
    const { key } = await grant(table);
    const items = [await uploaded(key, await samplePhoto())];
    const body = { ...small, identityId: identities.citrine, referenceImages: items };
    const answer = await service.api({
      path: '/generate',
      key,
      body,
      headers: { accept: 'text/event-stream' },
    });
    expect(answer.body).toMatch(/event: accepted[\s\S]*event: completed\ndata: .*"referenceImagesUsed":1/);
  });

  test('is the playground’s too', async () => {
    const sub = randomUUID();
    const token = await sessionOf(service.dataDir, { sub });
    const { license } = await grant(table, { ownerId: sub });
    const { licenseId } = license;
    const opened = await service.api({ method: 'POST', path: '/uploads', key: token, body: { licenseId } });
    await sendFile(opened.body, await samplePhoto());
    const referenceImages = [{ uploadId: opened.body.uploadId }];
    const body = { ...small, licenseId, identityId: identities.citrine, referenceImages };
    const answer = await service.api({ path: '/playground/generate', key: token, body });
    expect(answer).toMatchObject({ status: 200, body: { referenceImagesUsed: 1 } });
  });

  test('keeps nothing of a photo but its picture, under the request’s own prefix', async () => {
    const { key, license } = await grant(table);
    const secret = 'the house by the lake';
    const photo = await sharp(await samplePhoto({ format: 'jpeg' }))
      .withExif({ IFD0: { Copyright: secret }, IFD3: { GPSLatitude: '47/1 22/1 0/1' } })
      .jpeg()
      .toBuffer();
    expect(photo.includes(secret)).toBe(true);
    const answer = await withImages(key, [await uploaded(key, photo)]);
    const [copy, ...more] = copiesOf(license);
    expect([copy?.key, more]).toEqual([
      `generations/${license.licenseId}/${answer.body.requestId}/reference-0`,
      [],
    ]);
    expect(copy!.file.includes(secret)).toBe(false);
  });

  test('is repeated by its idempotency key without being fetched or charged again', async () => {
    const { key, license } = await grant(table);
    const items = [await uploaded(key, await samplePhoto())];
    const headers = { 'idempotency-key': 'once' };
    const body = { identityId: identities.citrine, referenceImages: items };
    const first = await generate(service, key, body, headers);
    const again = await generate(service, key, body, headers);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body.requestId).toBe(first.body.requestId);
    expect(copiesOf(license)).toHaveLength(1);
    await expectCharged(table, license, 1);
  });
});

describe('an image that is refused costs nothing and is named', () => {
  const png = () => samplePhoto();
  const animated = async () => {
    const [one, two] = [await samplePhoto({ color: '#f00000' }), await samplePhoto({ color: '#0000f0' })];
    return sharp([one, two], { join: { animated: true } })
      .webp()
      .toBuffer();
  };
  const hostile: [string, () => Promise<Uint8Array>, RegExp][] = [
    [
      'a GIF',
      async () =>
        sharp(await png())
          .gif()
          .toBuffer(),
      /must be a PNG, JPEG or WebP image/,
    ],
    [
      'an SVG',
      async () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
      /must be a PNG, JPEG or WebP/,
    ],
    [
      'a page',
      async () => Buffer.from('<!doctype html><script>alert(1)</script>'),
      /must be a PNG, JPEG or WebP/,
    ],
    [
      'an AVIF',
      async () =>
        sharp(await png())
          .avif()
          .toBuffer(),
      /must be a PNG, JPEG or WebP/,
    ],
    [
      'a picture with an archive behind it',
      async () => Buffer.concat([await png(), Buffer.from('PK\x05\x06')]),
      /nothing else/,
    ],
    ['half a picture', async () => (await png()).subarray(0, 200), /./],
    ['a picture that moves', animated, /animated/],
    ['a small one', () => tiny(64, 63), /64 to 8192/],
    ['a wide one', () => tiny(8193, 64), /64 to 8192/],
    ['a large one', () => tiny(8192, 4883), /megapixels|40/],
  ];
  const tiny = (width: number, height: number) =>
    sharp({ create: { width, height, channels: 3, background: '#808080' } })
      .png()
      .toBuffer();

  test.each(hostile)('%s', async (_what, file, sentence) => {
    const { key, license } = await grant(table);
    const items = [await uploaded(key, await png()), await uploaded(key, await file())];
    const answer = await withImages(key, items);
    expectError(answer, 400, 'INVALID_PARAMETERS');
    expect(answer.body.error).toMatch(/^referenceImages\[1\]\.uploadId: [^[]*$/);
    expect(answer.body.error).toMatch(sentence);
    expect(await books(table, license)).toEqual({ used: 0, committed: 0 });
    expect((await service.api({ path: '/generate', key })).body.generations).toEqual([]);
  });

  test('every one of them is named at once', async () => {
    const { key } = await grant(table);
    const gif = await sharp(await png())
      .gif()
      .toBuffer();
    const items = [
      { url: 'https://nobody.invalid/a.png' },
      await uploaded(key, gif),
      { uploadId: 'u' },
      await uploaded(key, await png()),
    ];
    const answer = await withImages(key, items);
    expectError(answer, 400, 'INVALID_PARAMETERS');
    expect(answer.body.error).toMatch(
      /^referenceImages\[0\]\.url: [^[]*\. referenceImages\[1\]\.uploadId: [^[]*\. referenceImages\[2\]\.uploadId: [^[]*\.$/,
    );
  });

  test('before the tier and the credits are looked at', async () => {
    const { key } = await grant(table, { tier: 'starter', creditsLimit: 1, used: 1 });
    const gif = await uploaded(
      key,
      await sharp(await png())
        .gif()
        .toBuffer(),
    );
    const tooLarge = { width: 2048, height: 2048 };
    expectError(await withImages(key, [gif], tooLarge), 400, 'INVALID_PARAMETERS');
    const fine = await uploaded(key, await png());
    expectError(await withImages(key, [fine], tooLarge), 400, 'TIER_LIMIT');
    expectError(await withImages(key, [fine]), 429, 'CREDIT_LIMIT_EXCEEDED');
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
