import { beforeAll, describe, expect, test } from '@jest/globals';
import { expectOk } from '../support/answers.ts';
import { openImage } from '../support/png.ts';
import { small } from '../support/requests.ts';
import { newAccount } from './fixture.ts';

interface Made {
  seed: number;
  images: Buffer[];
}

const maxSeed = 4294967295;
const parameters = { ...small, prompt: 'two herons over a lake', seed: 1234567, guidanceScale: 6.5 };

/** Generates, each time with a key of its own. `test/long/restart.test.ts` does the same after a restart and in another folder. */
async function imagesOf(changes: object = {}): Promise<Made> {
  const answer = await (await newAccount()).generate({ ...parameters, ...changes });
  expectOk(answer);
  return { seed: answer.body.seed, images: await Promise.all(answer.body.outputs.map(openImage)) };
}

let original: Made;

beforeAll(async () => void (original = await imagesOf()));

function expectSameBytes(images: Buffer[], expected: Buffer[]): void {
  expect(images.map((image) => image.length)).toEqual(expected.map((image) => image.length));
  images.forEach((image, i) => expect(image.equals(expected[i]!)).toBe(true));
}

describe('the same seed and parameters give the same bytes', () => {
  test('again, for another key of another license', async () => {
    expectSameBytes((await imagesOf()).images, original.images);
  });

  test('when several are generated at once', async () => {
    const made = await Promise.all([1, 2, 3].map(() => imagesOf()));
    for (const { images } of made) expectSameBytes(images, original.images);
  });
});

test('no file has a word of its request, or an id', async () => {
  const files = original.images.map((image) => image.toString('latin1')).join();
  expect(files).toContain('trainedAlgorithmicMedia');
  expect(files).not.toMatch(/heron|aurora|(idn|lic|key)_\w{4}/);
});

test('a batch makes what one request for each of its seeds makes, also beyond the largest seed', async () => {
  const batch = await imagesOf({ seed: maxSeed, numOutputs: 2 });
  expect(batch.seed).toBe(maxSeed);
  const [last, zero] = [await imagesOf({ seed: maxSeed }), await imagesOf({ seed: 0 })];
  expectSameBytes([...last.images, ...zero.images], batch.images);
});

test('the server chooses a seed when none was sent, another one each time, and it gives the same bytes when sent', async () => {
  const [one, other] = [await imagesOf({ seed: undefined }), await imagesOf({ seed: undefined })];
  expect(one.seed).not.toBe(other.seed);
  expectSameBytes((await imagesOf({ seed: one.seed })).images, one.images);
});

describe('a link', () => {
  /** Two images of one request, and one of another account's. */
  let links: string[];
  let strangersLink: string;

  beforeAll(async () => {
    const [owner, stranger] = [await newAccount(), await newAccount()];
    ({ outputs: links } = (await owner.generate({ numOutputs: 2 })).body);
    [strangersLink] = (await stranger.generate()).body.outputs;
  });

  async function expectForbidden(link: string): Promise<void> {
    expect(links).not.toContain(link);
    const response = await fetch(link);
    const text = await response.text();
    expect({ link, status: response.status }).toEqual({ link, status: 403 });
    expect(text).not.toContain('PNG');
  }

  /** The link with something about it changed. */
  function changed(change: (url: URL) => void): string {
    const url = new URL(links[0]!);
    change(url);
    return url.href;
  }

  test('carries its signature and is promised for an hour, not longer', () => {
    for (const link of [...links, strangersLink]) {
      const { searchParams } = new URL(link);
      expect(searchParams.get('X-Amz-Signature')).toMatch(/^[0-9a-f]{64}$/);
      expect(searchParams.get('X-Amz-Expires')).toBe('3600');
      expect(searchParams.get('X-Amz-Date')).toMatch(/^\d{8}T\d{6}Z$/);
    }
  });

  // The tests of the local S3 hold every other way to change a link or to use it otherwise.
  test('is 403 when its signature or its life is another, for any other object, and without a signature', async () => {
    const signature = new URL(links[0]!).searchParams.get('X-Amz-Signature')!;
    const other = (signature.startsWith('a') ? 'b' : 'a') + signature.slice(1);
    await expectForbidden(changed((url) => url.searchParams.set('X-Amz-Signature', other)));
    await expectForbidden(changed((url) => url.searchParams.set('X-Amz-Expires', '7200')));
    for (const link of [links[1]!, strangersLink])
      await expectForbidden(changed((url) => (url.pathname = new URL(link).pathname)));
    await expectForbidden(changed((url) => (url.search = '')));
    await expectForbidden(new URL('/image-generation?list-type=2', links[0]).href);
  });
});
