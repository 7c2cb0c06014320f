import { expect, test } from '@jest/globals';
import { outputFormats } from '../../../shared/contracts/generation.ts';
import type { ModelCompleted } from '../../../shared/contracts/model-server.ts';
import { colorful, plain, pngOf } from '../painter/shelf.ts';
import { invoke, stepsOf } from './invocation.ts';
import { describeContainer } from './world.ts';

describeContainer((world) => {
  test.each([1, 3])('paints %i image(s) of any size, with progress meanwhile', async (count) => {
    const { exchange, pictures } = await world().paint({ width: 640, height: 512 }, count);

    expect(new Set(stepsOf(exchange)).size).toBeGreaterThan(4);
    expect(new Set(pictures.map(({ sha256 }) => sha256)).size).toBe(count);
  });

  test('answers the same request with the same bytes, whatever its id and deadline', async () => {
    const first = await world().paint({ requestId: 'a', seed: 77 }, 2);
    const second = await world().paint({ requestId: 'b', seed: 77 }, 2);

    expect(second.pictures.map(({ sha256 }) => sha256)).toEqual(first.pictures.map(({ sha256 }) => sha256));
  });

  test('makes output i as a request of its own with seed + i, also past 2^32', async () => {
    const { pictures } = await world().paint({ seed: 4294967294 }, 3);

    for (const [i, seed] of [4294967294, 4294967295, 0].entries()) {
      const [alone] = (await world().paint({ seed })).pictures;
      expect([seed, alone!.sha256]).toEqual([seed, pictures[i]!.sha256]);
    }
    expect(new Set(pictures.map(({ sha256 }) => sha256)).size).toBe(3);
  });

  test('paints another picture for another prompt', async () => {
    const [sea] = (await world().paint({ prompt: 'a quiet sea' })).pictures;
    const [wood] = (await world().paint({ prompt: 'a burning wood at night' })).pictures;

    expect(Buffer.compare(sea!.pixels, wood!.pixels)).not.toBe(0);
  });

  test('gives each of several callers at once the pictures that are their own', async () => {
    const requests = ['a bird', 'a boat', 'a bird'].map((prompt, i) => ({
      prompt,
      seed: i * 1000,
    }));
    const together = await Promise.all(requests.map((changes) => world().paint(changes, 2)));

    for (const [i, changes] of requests.entries()) {
      const { pictures } = await world().paint(changes, 2);
      expect(together[i]!.pictures.map(({ sha256 }) => sha256)).toEqual(pictures.map(({ sha256 }) => sha256));
    }
    expect(new Set(together.flatMap(({ pictures }) => pictures.map(({ sha256 }) => sha256))).size).toBe(6);
  }, 60_000);

  test('names the same version of its model in each answer', async () => {
    const [probe] = (await invoke(world().running.url, { probe: true })).events;
    const { exchange } = await world().paint();
    const { modelVersion } = exchange.closing as ModelCompleted;

    expect(probe).toEqual({ event: 'ready', modelVersion });
    expect(modelVersion.length).toBeGreaterThan(0);
  });

  test.each(outputFormats)(
    'writes into each %s file what made it, and not when or for whom',
    async (outputFormat) => {
      const asked = {
        prompt: 'Größe 漢字 🎨 "quoted"\n end',
        negativePrompt: 'fog',
        seed: 4294967295,
        numInferenceSteps: 21,
        guidanceScale: 3.5,
        width: 576,
        height: 512,
      };
      const { pictures, exchange } = await world().paint(
        { ...asked, outputFormat, requestId: 'only-once' },
        2,
      );
      const { modelVersion } = exchange.closing as ModelCompleted;

      for (const [i, { texts }] of pictures.entries()) {
        expect(Object.keys(texts).toSorted()).toEqual(['Software', 'parameters']);
        expect(JSON.parse(texts.parameters!)).toMatchObject({
          ...asked,
          seed: [4294967295, 0][i],
          modelVersion,
        });
        expect(JSON.stringify(texts)).not.toMatch(/only-once|https?:|Signature/);
      }
    },
  );

  test.each(['reference', 'exact_product'] as const)(
    'uses reference images in mode %s, and paints the same bytes each time',
    async (referenceMode) => {
      const files = [await pngOf(colorful(300, 200)), await pngOf(plain(200, 30, 30))];
      const places = await Promise.all(files.map((file) => world().store.file(file)));
      const references = places.map(({ url }) => ({ url }));
      const batch = await world().paint({ referenceMode, references, seed: 5 }, 2);
      const [alone] = (await world().paint({ referenceMode, references, seed: 6 })).pictures;
      const [bare] = (await world().paint({ referenceMode, seed: 6 })).pictures;

      expect(new Set(stepsOf(batch.exchange)).size).toBeGreaterThan(4);
      expect(alone!.sha256).toBe(batch.pictures[1]!.sha256);
      expect(Buffer.compare(bare!.pixels, alone!.pixels)).not.toBe(0);
      expect(places.map((place) => place.attempts())).toEqual([2, 2]);
    },
  );
});
