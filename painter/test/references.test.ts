import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { bitmap, colorful, plain, pngOf } from './support/bitmaps.ts';
import { paint, paintFile, readFacts } from './support/painting.ts';
import { linkTo, referencesAt, withFiles } from './support/references.ts';
import type { Asked } from './support/references.ts';

test('a picture depends on its references, their order, their mode and the branding', async () => {
  const files = await Promise.all([colorful(700, 200), colorful(90, 180)].map(pngOf));
  const variants: [Buffer[], Asked][] = (['reference', 'exact_product'] as const).flatMap((referenceMode) => [
    [files, { referenceMode }],
    [files.toReversed(), { referenceMode }],
    [files.slice(1), { referenceMode }],
    [files, { referenceMode, preserveBranding: true }],
  ]);
  const pictures = await Promise.all(
    variants.map(async ([images, asked]) => paint(await withFiles(images, asked))),
  );

  expect(new Set(pictures.map(({ bytes }) => Buffer.from(bytes).toString('latin1'))).size).toBe(8);
});

test('metadata with the parameters names the references by their digests, their mode and the branding, and no link', async () => {
  const file = await pngOf(plain(10, 120, 90));
  const picture = await withFiles([file], { preserveBranding: true });
  const facts = await readFacts(await paintFile({ ...picture, embedParameters: true }));

  expect(facts).toMatchObject({
    referenceMode: 'reference',
    preserveBranding: true,
    references: [{ sha256: createHash('sha256').update(file).digest('hex') }],
  });
  expect(JSON.stringify(facts)).not.toContain('Signature');
});

test.each([false, true])(
  'no pixel is copied in mode reference (branding preserved: %s)',
  async (preserveBranding) => {
    const reference = colorful(512, 512);
    const { bytes } = await paint(await withFiles([await pngOf(reference)], { preserveBranding }));
    let same = 0;
    for (let pixel = 0; pixel < 512 * 512; pixel += 1) {
      const [a, b] = [pixel * 3, pixel * 4];
      const near = (i: number): boolean => Math.abs(bytes[a + i]! - reference.data[b + i]!) <= 3;
      if (near(0) && near(1) && near(2)) same += 1;
    }

    expect(same).toBeLessThan(512 * 512 * 0.002);
  },
);

test.each<[why: string, () => Parameters<typeof linkTo>[0] | Promise<Uint8Array>]>([
  [
    'could not be fetched: its link answered with HTTP 404.',
    () => (response) => response.writeHead(404).end(),
  ],
  [
    'could not be fetched: the connection failed.',
    () => (response) => response.writeHead(302, { location: '/' }).end(),
  ],
  ['is not a PNG, JPEG or WebP image that can be read.', () => Buffer.from('<html>not here</html>')],
  ['shows nothing: it is transparent everywhere.', () => pngOf(bitmap(90, 90, () => [9, 9, 9, 0]))],
])('an unusable reference is named, and its link is not: %s', async (why, file) => {
  const message = `Reference image 1 ${why}`;
  await expect(referencesAt([linkTo(await file())])).rejects.toMatchObject({ message });
});
