import { describe, expect, test } from '@jest/globals';
import { withReferences } from '../../src/art/references/compose.ts';
import { createScene } from '../../src/art/scene.ts';
import { readTraits } from '../../src/art/traits.ts';
import type { PictureOptions } from '../../src/art/paint.ts';
import { formNames } from '../../src/art/styles/forms.ts';
import { bitmap, colorful, plain, pngOf } from '../support/bitmaps.ts';
import type { Bitmap } from '../support/bitmaps.ts';
import { paint as paintPicture } from '../support/painting.ts';
import { withFiles } from '../support/references.ts';
import type { DecodedPng } from '../support/painting.ts';
import { compositionCorrelation, meanColor } from './compare.ts';

async function paint(
  references: Bitmap[],
  changes: Partial<PictureOptions> = {},
  preserveBranding = false,
): Promise<DecodedPng> {
  const files = await Promise.all(references.map(pngOf));
  const shown = files.length > 0 ? await withFiles(files, { preserveBranding }) : {};
  return paintPicture({ prompt: 'a quiet sea', ...changes, ...shown });
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
    const means = await Promise.all(colors.map(async (each) => meanColor(await paint([each], { style }))));
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
      const [r, , b] = meanColor(await paint(references));
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
      const [r, g, b] = meanColor(picture);
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

test.each(['reference', 'exact_product'] as const)(
  'composing in mode %s can be stopped at many points',
  async (mode) => {
    const { references } = await withFiles([await pngOf(colorful(500, 500))], { referenceMode: mode });
    let ticks = 0;
    const scene = createScene({
      width: 512,
      height: 512,
      seed: 1,
      prompt: '',
      style: 'harbor',
      detail: 0,
      traits: readTraits('', '', 7.5),
      character: { hueShift: 0, chroma: 1, habit: 0 },
      tick: () => void (ticks += 1),
    });
    const composition = withReferences(scene, references!, 1);
    composition.beforeFilm();
    composition.afterFilm(new Uint8Array(512 * 512 * 3));

    expect(ticks).toBeGreaterThan(8);
  },
);
