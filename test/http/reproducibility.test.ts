import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Table } from '../../shared/store/table.ts';
import { expectOk } from '../support/answers.ts';
import { fixedTableOf } from '../support/books.ts';
import { grant } from '../support/grants.ts';
import { openImage, pngPixels, pngSize } from '../support/png.ts';
import { generate } from '../support/requests.ts';
import { removeFolder, startService, type RunningService } from '../support/service.ts';

interface Made {
  seed: number;
  images: Buffer[];
}

const maxSeed = 4294967295;
const order = { identity: 'aurora', prompt: 'two herons over a lake', seed: 1234567, guidanceScale: 6.5 };

/** Has a service paint, each time with a key of its own. */
async function paint(service: RunningService, table: Table, changes: Record<string, unknown>): Promise<Made> {
  const { identity, ...body }: Record<string, unknown> = { ...order, ...changes };
  const { key } = await grant(table, { identityIds: [service.ready.identities.drift!] });
  const identityId = service.ready.identities[identity as string];
  const answer = await generate(service, key, { ...body, identityId });
  expectOk(answer);
  return { seed: answer.body.seed, images: await Promise.all(answer.body.outputs.map(openImage)) };
}

let service: RunningService;
let table: Table;
let original: Made;
const paintHere = (changes: Record<string, unknown> = {}) => paint(service, table, changes);

beforeAll(async () => {
  service = await startService();
  table = await fixedTableOf(service.dataDir);
  original = await paintHere();
});

afterAll(async () => {
  await service.end();
  removeFolder(service.dataDir);
});

function expectSameBytes(images: Buffer[], expected: Buffer[]): void {
  expect(images.map((image) => image.length)).toEqual(expected.map((image) => image.length));
  images.forEach((image, i) => expect(image.equals(expected[i]!)).toBe(true));
}

describe('the same seed and parameters give the same bytes', () => {
  test('again, for another key of another license', async () => {
    expectSameBytes((await paintHere()).images, original.images);
  });

  test('when several are painted at once', async () => {
    const made = await Promise.all([1, 2, 3, 4].map(() => paintHere()));
    for (const { images } of made) expectSameBytes(images, original.images);
  });

  test('when a default is written out', async () => {
    const { images } = await paintHere({ guidanceScale: undefined, negativePrompt: undefined });
    const written = { guidanceScale: 7.5, negativePrompt: '', numOutputs: 1, referenceMode: 'reference' };
    expectSameBytes((await paintHere(written)).images, images);
  });

  describe('elsewhere and later', () => {
    let other: { service: RunningService; table: Table };
    let beforeRestart: Made;

    beforeAll(async () => {
      const first = await startService();
      beforeRestart = await paint(first, await fixedTableOf(first.dataDir), {});
      await first.end();
      const again = await startService({ dataDir: first.dataDir });
      other = { service: again, table: await fixedTableOf(again.dataDir) };
    });

    afterAll(async () => {
      await other.service.end();
      removeFolder(other.service.dataDir);
    });

    test('after a restart', async () => {
      expectSameBytes((await paint(other.service, other.table, {})).images, beforeRestart.images);
    });

    test.each(['aurora', 'basalt', 'citrine', 'drift', 'harbor'])(
      'in another data folder, where %s has another id',
      async (identity) => {
        expect(other.service.ready.identities[identity]).not.toBe(service.ready.identities[identity]);
        const { images } = await paint(other.service, other.table, { identity });
        expectSameBytes(images, (await paintHere({ identity })).images);
      },
    );
  });
});

describe('output i of a request', () => {
  test('is what a request of one with seed + i gives, to the byte', async () => {
    const batch = await paintHere({ numOutputs: 4 });
    expect(batch.seed).toBe(order.seed);
    expect(batch.images).toHaveLength(4);
    for (const [i, image] of batch.images.entries()) {
      const single = await paintHere({ seed: order.seed + i });
      expectSameBytes(single.images, [image]);
    }
  });

  test('begins at 0 again after the largest seed', async () => {
    const batch = await paintHere({ seed: maxSeed, numOutputs: 2 });
    expect(batch.seed).toBe(maxSeed);
    const last = await paintHere({ seed: maxSeed });
    const zero = await paintHere({ seed: 0 });
    expectSameBytes([...last.images, ...zero.images], batch.images);
  });
});

describe('another picture comes of', () => {
  test.each<[string, Record<string, unknown>]>([
    ['another seed', { seed: order.seed + 1 }],
    ['another prompt', { prompt: 'two herons over a lane' }],
    ['another identity', { identity: 'basalt' }],
    ['another guidance scale', { guidanceScale: 18 }],
    ['other steps', { numInferenceSteps: 50 }],
  ])('%s', async (_, change) => {
    const [image] = (await paintHere(change)).images;
    expect(pngSize(image!)).toEqual({ width: 512, height: 512 });
    expect(pngPixels(image!).equals(pngPixels(original.images[0]!))).toBe(false);
  });
});

describe('the seed of the answer', () => {
  test.each([0, 1, order.seed, maxSeed])('is the one that was sent: %i', async (seed) => {
    expect((await paintHere({ seed })).seed).toBe(seed);
  });

  test('is the server’s choice when none was sent, another one each time, and gives the same bytes when sent', async () => {
    const made = await Promise.all([1, 2, 3].map(() => paintHere({ seed: undefined })));
    for (const { seed } of made) {
      expect(Number.isInteger(seed) && seed >= 0 && seed <= maxSeed).toBe(true);
    }
    expect(new Set(made.map(({ seed }) => seed)).size).toBe(3);
    const [first] = made;
    expectSameBytes((await paintHere({ seed: first!.seed })).images, first!.images);
  });
});
