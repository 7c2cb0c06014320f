import { beforeAll, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { grant } from '../support/grants.ts';
import { generate, stored } from '../support/requests.ts';
import { pause } from '../support/until.ts';
import { sharedService } from '../support/use-service.ts';

const service = sharedService();
let key: string;
let answer: { body: any };

beforeAll(async () => {
  const { aurora } = service.ready.identities;
  ({ key } = await grant(service.table));
  answer = await generate(service, key, { identityId: aurora, numOutputs: 2, width: 1024, height: 576 });
});

test('each output has a small WebP, which browsers may keep', async () => {
  const { outputs, previews } = answer.body;
  expect([outputs.length, previews.length]).toEqual([2, 2]);
  const files: Buffer[] = [];
  for (const preview of previews) {
    const response = await fetch(preview);
    const file = Buffer.from(await response.arrayBuffer());
    expect(response.headers.get('content-type')).toBe('image/webp');
    expect(response.headers.get('cache-control')).toBe('private, max-age=31536000, immutable');
    expect(file.length).toBeLessThanOrEqual(60_000);
    expect(await sharp(file).metadata()).toMatchObject({ format: 'webp', width: 512, height: 288 });
    files.push(file);
  }
  expect(files[0]!.equals(files[1]!)).toBe(false);
});

test('the answer, the record and the list have the same links within a quarter of an hour', async () => {
  const { requestId, outputs } = answer.body;
  const all = async (): Promise<string[][]> => {
    const list = await service.api({ path: '/generate', key });
    const record = await stored(service, key, requestId);
    return [record.previews, list.body.generations[0].previews];
  };
  const quarter = () => Math.floor(Date.now() / 900_000);
  let [began, before, after] = [0, [] as string[][], [] as string[][]];
  do {
    began = quarter();
    before = await all();
    // A signature is made of the second it was made in.
    await pause(1100);
    after = await all();
  } while (quarter() !== began);

  expect(new Set([...before, ...after].map(String)).size).toBe(1);
  const pathsOf = (links: string[]) => links.map((link) => new URL(link).pathname);
  expect(pathsOf(before[0]!)).toEqual(pathsOf(answer.body.previews));
  expect(pathsOf(before[0]!)).toEqual(
    pathsOf(outputs).map((path) => path.replace('output', 'preview').replace('.png', '.webp')),
  );
});
