import { expect, test } from '@jest/globals';
import { outputFormats } from '../../../shared/contracts/generation.ts';
import type { ModelRequest } from '../../../shared/contracts/model-server.ts';
import { describeContainer } from './world.ts';

const lossy = ['webp', 'jpeg'] as const;

/** How far two pictures of one size are apart, 0 … 255. */
function meanDifference(one: Buffer, other: Buffer): number {
  let sum = 0;
  for (let i = 0; i < one.length; i += 1) sum += Math.abs(one[i]! - other[i]!);
  return sum / one.length;
}

describeContainer((world) => {
  test.each(outputFormats)('paints %s files of any size, the same bytes each time', async (outputFormat) => {
    const asked = { width: 576, height: 512, outputFormat } as const;
    const { pictures: batch } = await world().paint({ ...asked, seed: 40 }, 2);
    const { pictures: alone } = await world().paint({ ...asked, seed: 41 });

    expect(new Set(batch.map(({ sha256 }) => sha256)).size).toBe(2);
    expect(alone[0]!.sha256).toBe(batch[1]!.sha256);
  });

  test.each(lossy)('a %s shows what the PNG of the same request shows', async (outputFormat) => {
    const [png] = (await world().paint({ seed: 3 })).pictures;
    const [other] = (await world().paint({ seed: 4 })).pictures;
    const [file] = (await world().paint({ seed: 3, outputFormat })).pictures;

    const lost = meanDifference(png!.pixels, file!.pixels);
    expect(lost).toBeGreaterThan(0);
    expect(lost).toBeLessThan(meanDifference(png!.pixels, other!.pixels) / 4);
    expect(JSON.parse(file!.texts.parameters!)).toEqual(JSON.parse(png!.texts.parameters!));
  });

  test('a service that knows of no formats gets PNGs', async () => {
    const older = { seed: 3, outputFormat: undefined } as unknown as Partial<ModelRequest>;
    const [place] = await world().outputs(1);
    const { closing } = await world().ask(older, [place!]);
    const [png] = (await world().paint({ seed: 3 })).pictures;

    expect(closing).toMatchObject({ event: 'completed', outputs: [{ sha256: png!.sha256 }] });
    expect(await place!.read()).toMatchObject({ contentType: 'image/png' });
  });

  test.each(lossy)('a link for a %s takes no PNG', async (outputFormat) => {
    const [place] = await world().outputs(1, outputFormat);
    const { closing } = await world().ask({ outputFormat: 'png' }, [place!]);

    expect(closing).toMatchObject({ event: 'failed', reason: 'upload_failed' });
    expect(place!.attempts()).toBe(1);
    expect(await place!.read()).toBeNull();
  });
});
