import { describe, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { outputFormats } from '../../shared/images/image-types.ts';
import type { ModelCompleted, ModelRequest } from '../../shared/model/contract.ts';
import { colorful, meanDifference, plain, pngOf } from './images.ts';
import { stepsOf } from './invocation.ts';
import { promptMark, type Picture, type ContractFixture } from './fixture.ts';

const lossy = ['webp', 'jpeg'] as const;

const digestsOf = (pictures: Picture[]): string[] => pictures.map(({ sha256 }) => sha256);

export function pictureCases(fixture: ContractFixture): void {
  test('makes output i as a request of its own with seed + i, also past 2^32, with progress meanwhile', async () => {
    const size = { width: 640, height: 512 };
    const { exchange, pictures } = await fixture.generate({ seed: 4294967294, ...size }, 3);

    for (const [i, seed] of [4294967294, 4294967295, 0].entries()) {
      const [alone] = (await fixture.generate({ seed, ...size })).pictures;
      expect([seed, alone!.sha256]).toEqual([seed, pictures[i]!.sha256]);
    }
    expect(new Set(digestsOf(pictures)).size).toBe(3);
    expect(new Set(stepsOf(exchange)).size).toBeGreaterThan(4);
  });

  test('makes a preview that shows the same, with the same bytes each time', async () => {
    const request = { width: 1024, height: 576, seed: 8 };
    const { pictures } = await fixture.generate(request, 2);
    const [again] = (await fixture.generate({ ...request, seed: 9, embedParameters: true })).pictures;
    const [one, other] = await Promise.all(
      pictures.map(({ file }) => sharp(file).resize(512).removeAlpha().raw().toBuffer()),
    );

    expect(Buffer.compare(again!.preview.file, pictures[1]!.preview.file)).toBe(0);
    const apart = meanDifference(one!, other!);
    expect(meanDifference(one!, pictures[0]!.preview.pixels)).toBeLessThan(apart / 4);
  });

  test('gives each of several callers at once the pictures of their own prompt and seed', async () => {
    const requests = ['a bird', 'a boat', 'a bird'].map((prompt, i) => ({ prompt, seed: i < 2 ? 7 : 8 }));
    const together = await Promise.all(requests.map((changes) => fixture.generate(changes)));

    for (const [i, changes] of requests.entries()) {
      const { pictures } = await fixture.generate(changes);
      expect(digestsOf(together[i]!.pictures)).toEqual(digestsOf(pictures));
    }
    expect(new Set(together.flatMap(({ pictures }) => digestsOf(pictures))).size).toBe(3);
  });

  describe.each(outputFormats)('a %s file', (outputFormat) => {
    const asked = {
      prompt: `Größe 漢字 🎨 "quoted" <b>&amp; \ufffe\n ${promptMark}`,
      negativePrompt: 'fogbound',
      numInferenceSteps: 21,
      guidanceScale: 3.5,
    };
    const size = { width: 576, height: 512 };
    const request = { ...asked, ...size, seed: 4294967295, outputFormat, requestId: 'only-once' };

    test('says that a model made it, which one, its seed and its size, and nothing of who asked for what', async () => {
      const { pictures, exchange } = await fixture.generate(request, 2);
      const { modelVersion } = exchange.closing as ModelCompleted;

      for (const [i, { xmp, file }] of pictures.entries()) {
        expect(xmp).toEqual({
          digitalSourceType: 'http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia',
          software: modelVersion,
          facts: { seed: [4294967295, 0][i], ...size, modelVersion },
        });
        const said = file.toString('latin1');
        expect(said).not.toMatch(new RegExp(`${promptMark}|fogbound|only-once|idn_a|Signature|127\\.0\\.0`));
      }
    });

    test('says the parameters too where the deployment wants it, and the same bytes each time', async () => {
      const wanted = { ...request, embedParameters: true };
      const { pictures } = await fixture.generate(wanted, 2);
      const [again] = (await fixture.generate({ ...wanted, requestId: 'another' })).pictures;

      for (const [i, { xmp, file }] of pictures.entries()) {
        expect(xmp.facts).toMatchObject({ ...asked, ...size, identityVersion: 1, seed: [4294967295, 0][i] });
        expect(file.toString('latin1')).not.toMatch(/only-once|Signature|127\.0\.0/);
      }
      expect(again!.sha256).toBe(pictures[0]!.sha256);
    });
  });

  test.each(['reference', 'exact_product'] as const)(
    'uses reference images in mode %s, and makes the same bytes each time',
    async (referenceMode) => {
      const files = [await pngOf(colorful(300, 200)), await pngOf(plain('#c81e1e'))];
      const places = await Promise.all(files.map((file) => fixture.store.file(file)));
      const references = places.map(({ url }) => ({ url }));
      const batch = await fixture.generate({ referenceMode, references, seed: 5 }, 2);
      const [alone] = (await fixture.generate({ referenceMode, references, seed: 6 })).pictures;
      const [bare] = (await fixture.generate({ referenceMode, seed: 6 })).pictures;

      expect(new Set(stepsOf(batch.exchange)).size).toBeGreaterThan(4);
      expect(alone!.sha256).toBe(batch.pictures[1]!.sha256);
      expect(Buffer.compare(bare!.pixels, alone!.pixels)).not.toBe(0);
      expect(places.map((place) => place.attempts())).toEqual([2, 2]);
    },
  );

  test.each(lossy)(
    'a %s has the same bytes each time, and shows what the PNG of the same request shows',
    async (outputFormat) => {
      const { pictures } = await fixture.generate({ seed: 3, outputFormat }, 2);
      const [again] = (await fixture.generate({ seed: 4, outputFormat })).pictures;
      const [png, other] = (await fixture.generate({ seed: 3 }, 2)).pictures;

      expect(again!.sha256).toBe(pictures[1]!.sha256);
      const lost = meanDifference(png!.pixels, pictures[0]!.pixels);
      expect(lost).toBeGreaterThan(0);
      expect(lost).toBeLessThan(meanDifference(png!.pixels, other!.pixels) / 4);
      expect(pictures[0]!.xmp).toEqual(png!.xmp);
    },
  );

  test('a service that knows of no formats gets PNGs', async () => {
    const older = { seed: 3, outputFormat: undefined } as unknown as Partial<ModelRequest>;
    const [place] = await fixture.outputs(1);
    const { closing } = await fixture.ask(older, [place!]);
    const [png] = (await fixture.generate({ seed: 3 })).pictures;

    expect(closing).toMatchObject({ event: 'completed', outputs: [{ sha256: png!.sha256 }] });
    expect(await place!.read()).toMatchObject({ contentType: 'image/png' });
  });

  test('a link for another format takes no PNG', async () => {
    const [place] = await fixture.outputs(1, 'webp');
    const { closing } = await fixture.ask({ outputFormat: 'png' }, [place!]);

    expect(closing).toMatchObject({ event: 'failed', reason: 'upload_failed' });
    expect(place!.attempts()).toBe(1);
    expect(await place!.read()).toBeNull();
  });
}
