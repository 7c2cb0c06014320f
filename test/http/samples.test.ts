import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { spawnAdmin } from '../engine/admin/world.ts';
import { grant } from '../support/grants.ts';
import { removeFolder, temporaryFolder } from '../support/service.ts';
import { pause, until } from '../support/until.ts';
import { sharedService } from '../support/use-service.ts';

const service = sharedService();
const folder = temporaryFolder();
const identityId = 'idn_with_samples';
let key: string;

beforeAll(async () => {
  const file = join(folder, 'sample.png');
  await sharp({ create: { width: 1600, height: 1200, channels: 3, background: '#864' } })
    .png()
    .toFile(file);
  const put = ['--data', service.dataDir, 'identity', 'put', '--id', identityId, '--name', 'Sampled'];
  const about = ['--slug', 'sampled', '--description', 'It has samples.', '--catalog', 'specialist'];
  const run = await spawnAdmin([...put, ...about, '--sample', file, '--sample-prompt', 'A brown field']);
  if (run.code !== 0) throw new Error(run.stderr);
  ({ key } = await grant(service.table, { foundingCatalog: false, identityIds: [identityId] }));
  // Functions remember the catalog for ten seconds.
  await until('the samples are shown', async () => (await samples()).length > 0, 60_000, 1000);
});
afterAll(() => removeFolder(folder));

const samples = async () => {
  const { body } = await service.api({ path: '/identities', key });
  return body.identities.flatMap(({ samples: all }: any) => all);
};

test('what the operator chose is shown to everyone who may use the identity', async () => {
  const [sample, ...others] = await samples();
  expect(others).toEqual([]);
  expect(sample).toMatchObject({ width: 1024, height: 768, prompt: 'A brown field' });
  for (const [link, width] of [
    [sample.url, 1024],
    [sample.thumbnailUrl, 512],
  ] as const) {
    const answer = await fetch(link);
    expect(answer.headers.get('content-type')).toBe('image/webp');
    expect(answer.headers.get('cache-control')).toBe('private, max-age=31536000, immutable');
    const metadata = await sharp(Buffer.from(await answer.arrayBuffer())).metadata();
    expect(metadata).toMatchObject({ format: 'webp', width });
  }
});

test('its links are the same within a quarter of an hour, so that a browser keeps the pictures', async () => {
  const quarter = () => Math.floor(Date.now() / 900_000);
  let [began, before, after]: [number, unknown, unknown] = [0, null, null];
  do {
    began = quarter();
    before = await samples();
    // A signature is made of the second it was made in.
    await pause(1100);
    after = await samples();
  } while (quarter() !== began);
  expect(after).toEqual(before);
});
