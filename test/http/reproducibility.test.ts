import { beforeAll, describe, expect, test } from '@jest/globals';
import { expectOk } from '../support/answers.ts';
import { grant } from '../support/grants.ts';
import { openImage } from '../support/png.ts';
import { generate } from '../support/requests.ts';
import { sharedService } from '../support/use-service.ts';

interface Made {
  seed: number;
  images: Buffer[];
}

const maxSeed = 4294967295;
const parameters = {
  identity: 'aurora',
  prompt: 'two herons over a lake',
  seed: 1234567,
  guidanceScale: 6.5,
};

/** Paints, each time with a key of its own. `test/long/restart.test.ts` does the same after a restart and in another folder. */
async function paint(changes: Record<string, unknown> = {}): Promise<Made> {
  const { identity, ...body }: Record<string, unknown> = { ...parameters, ...changes };
  const { key } = await grant(table, { identityIds: [service.ready.identities.drift!] });
  const identityId = service.ready.identities[identity as string];
  const answer = await generate(service, key, { ...body, identityId });
  expectOk(answer);
  return { seed: answer.body.seed, images: await Promise.all(answer.body.outputs.map(openImage)) };
}

const service = sharedService();
const { table } = service;
let original: Made;

beforeAll(async () => {
  original = await paint();
});

function expectSameBytes(images: Buffer[], expected: Buffer[]): void {
  expect(images.map((image) => image.length)).toEqual(expected.map((image) => image.length));
  images.forEach((image, i) => expect(image.equals(expected[i]!)).toBe(true));
}

describe('the same seed and parameters give the same bytes', () => {
  test('again, for another key of another license', async () => {
    expectSameBytes((await paint()).images, original.images);
  });

  test('when several are painted at once', async () => {
    const made = await Promise.all([1, 2, 3, 4].map(() => paint()));
    for (const { images } of made) expectSameBytes(images, original.images);
  });
});

test('no file has a word of its request, or an id', async () => {
  const files = original.images.map((image) => image.toString('latin1')).join();
  expect(files).toContain('trainedAlgorithmicMedia');
  expect(files).not.toMatch(/heron|aurora|(idn|lic|key)_\w{4}/);
});

test('a batch makes what one request for each of its seeds makes, also beyond the largest seed', async () => {
  const batch = await paint({ seed: maxSeed, numOutputs: 2 });
  expect(batch.seed).toBe(maxSeed);
  const [last, zero] = [await paint({ seed: maxSeed }), await paint({ seed: 0 })];
  expectSameBytes([...last.images, ...zero.images], batch.images);
});

test('the server chooses a seed when none was sent, another one each time, and it gives the same bytes when sent', async () => {
  const [one, other] = [await paint({ seed: undefined }), await paint({ seed: undefined })];
  expect(one.seed).not.toBe(other.seed);
  expectSameBytes((await paint({ seed: one.seed })).images, one.images);
});
