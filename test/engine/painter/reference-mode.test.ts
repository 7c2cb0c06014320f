import { afterAll, describe, expect, test } from '@jest/globals';
import { fitForms } from '../../../local/painter/art/references/relief.ts';
import type { PictureOrder } from '../../../local/painter/art/paint.ts';
import { formNames } from '../../../local/painter/art/styles/forms.ts';
import { createPool } from '../../../local/painter/pool.ts';
import { decodePng } from '../../unit/painter/png-decoder.ts';
import type { DecodedPng } from '../../unit/painter/png-decoder.ts';
import { compositionCorrelation, meanColour } from './compare.ts';
import { bitmap, colorful, decoded, image, plain } from './shelf.ts';
import type { Bitmap } from './shelf.ts';

const size = { width: 512, height: 512 };
const order: PictureOrder = {
  ...size,
  prompt: 'a quiet sea',
  negativePrompt: '',
  seed: 7,
  numInferenceSteps: 20,
  guidanceScale: 7.5,
  identityId: 'idn_test',
  style: 'harbor',
  outputFormat: 'png',
};

const pool = createPool(2);
const never = new AbortController().signal;
afterAll(() => pool.close());

async function paint(
  references: Bitmap[],
  changes: Partial<PictureOrder> = {},
  preserveBranding = false,
): Promise<DecodedPng> {
  const sizes = fitForms(
    references.map((each) => ({ ...each, cutOut: false })),
    size,
    preserveBranding,
  );
  const images = await Promise.all(
    references.map(async (each, i) => {
      const { data, ...small } = await decoded(image(each).resize({ ...sizes[i]!, fit: 'fill' }));
      return { ...small, pixels: data, cutOut: false, sha256: String(i) };
    }),
  );
  const shown = { references: { mode: 'reference' as const, preserveBranding, images } };
  const all = { ...order, ...changes, ...(images.length > 0 && shown) };
  return decodePng((await pool.paint(all, never, () => undefined)).file);
}

/** Brightness within a circle around the middle, over that of the whole picture. */
function middle({ width, height, bytes }: DecodedPng): number {
  const [inside, all] = [
    [0, 0],
    [0, 0],
  ];
  for (let y = 0, at = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1, at += 3) {
      const light = bytes[at]! + bytes[at + 1]! + bytes[at + 2]!;
      for (const sum of (x - width / 2) ** 2 + (y - height / 2) ** 2 < 100 ** 2 ? [inside, all] : [all]) {
        sum[0]! += light;
        sum[1]! += 1;
      }
    }
  }
  return inside[0]! / inside[1]! / (all[0]! / all[1]!);
}

const disc = (inside: number, outside: number): Bitmap =>
  bitmap(400, 400, (x, y) => {
    const value = Math.hypot(x - 199.5, y - 199.5) < 110 ? inside : outside;
    return [value, value, value, 255];
  });

describe('the palette', () => {
  test.each(formNames)('of %s moves to the reference: red, green or blue', async (style) => {
    const colors = [plain(200, 30, 30), plain(30, 150, 50), plain(40, 60, 200)];
    const means = await Promise.all(colors.map(async (each) => meanColour(await paint([each], { style }))));
    const share = (picture: number, channel: number): number =>
      means[picture]![channel]! / means[picture]!.reduce((sum, value) => sum + value, 0);

    for (const channel of [0, 1, 2]) {
      for (const other of [0, 1, 2].filter((each) => each !== channel)) {
        expect(share(channel, channel)).toBeGreaterThan(share(other, channel) + 0.08);
      }
    }
  });

  test('of several references is shared: with red and blue, it lies between red alone and blue alone', async () => {
    const [red, blue] = [plain(200, 30, 30), plain(40, 60, 200)];
    const lead = async (references: Bitmap[]): Promise<number> => {
      const [r, , b] = meanColour(await paint(references));
      return r - b;
    };
    const [warm, both, cold] = await Promise.all([lead([red]), lead([red, blue]), lead([blue])]);

    expect(warm).toBeGreaterThan(both + 10);
    expect(both).toBeGreaterThan(cold + 10);
  });

  test('comes from the subject, not from the white around it', async () => {
    const subject = bitmap(300, 300, (x, y) =>
      Math.hypot(x - 150, y - 150) < 60 ? [190, 40, 30, 255] : [255, 255, 255, 255],
    );
    const [before, after] = await Promise.all([paint([]), paint([subject])]);
    const redness = (picture: DecodedPng): number => {
      const [r, g, b] = meanColour(picture);
      return (2 * r) / (g + b);
    };

    expect(redness(after)).toBeGreaterThan(redness(before) * 1.3);
  });
});

describe('the form', () => {
  test('shows where it is: what is lighter in the reference is lighter in the picture', async () => {
    const [light, dark] = await Promise.all([paint([disc(230, 120)]), paint([disc(30, 120)])]);

    expect(middle(light)).toBeGreaterThan(middle(dark) * 1.15);
  });

  test("leaves the scene's own composition to be seen", async () => {
    const [alone, formed] = await Promise.all([paint([]), paint([disc(60, 200)])]);

    expect(compositionCorrelation(alone, formed)).toBeGreaterThan(0.75);
  });

  test('keeps finer detail with its branding preserved', async () => {
    const stripes = (phase: number): Bitmap =>
      bitmap(512, 512, (x, y) => {
        const value =
          x < 100 || x > 412 || y < 100 || y > 412 ? 128 : Math.floor((x + phase) / 6) % 2 === 0 ? 210 : 46;
        return [value, value, value, 255];
      });
    // Stripes and their negative differ by what is left of the stripes, whatever the scene is.
    const left = async (preserveBranding: boolean): Promise<number> => {
      const [one, other] = await Promise.all(
        [0, 6].map((phase) => paint([stripes(phase)], {}, preserveBranding)),
      );
      let sum = 0;
      for (let y = 200; y < 312; y += 1) {
        for (let x = 200; x < 312; x += 1) {
          const at = (y * 512 + x) * 3 + 1;
          sum += Math.abs(one!.bytes[at]! - other!.bytes[at]!);
        }
      }
      return sum / 112 / 112;
    };

    const fine = await left(true);

    expect(fine).toBeGreaterThan(15);
    expect(fine).toBeGreaterThan(2 * (await left(false)));
  });
});

test.each([false, true])('no pixel of the reference is copied (branding preserved: %s)', async (branding) => {
  const reference = colorful(512, 512);
  const { bytes } = await paint([reference], {}, branding);
  let same = 0;
  for (let pixel = 0; pixel < 512 * 512; pixel += 1) {
    const [a, b] = [pixel * 3, pixel * 4];
    const apart = [0, 1, 2].map((i) => Math.abs(bytes[a + i]! - reference.data[b + i]!));
    if (Math.max(...apart) <= 3) same += 1;
  }

  expect(same).toBeLessThan(512 * 512 * 0.002);
});
