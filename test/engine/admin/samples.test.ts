import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { identityStore } from '../../../shared/identities/store.ts';
import { allObjects } from '../../support/objects.ts';
import { useAdmin } from './fixture.ts';

const fixture = useAdmin();
/** Paths of pictures by name. */
const files: Record<string, string> = {};

async function picture(name: string, red: number, size: { width: number; height: number }): Promise<void> {
  files[name] = join(fixture.folder, name);
  const image = sharp({ create: { ...size, channels: 3, background: { r: red, g: 90, b: 40 } } });
  // What a camera writes: it lies on its side, and says where it was.
  const gps = { IFD3: { GPSLatitude: '48/1 12/1 0/1', GPSLatitudeRef: 'N' } };
  await image.withExif(gps).withMetadata({ orientation: 6 }).toFile(files[name]);
}

beforeAll(async () => {
  await picture('coast.jpg', 200, { width: 2048, height: 1024 });
  await picture('town.png', 20, { width: 640, height: 640 });
  await picture('huge.png', 255, { width: 8000, height: 6000 });
  const write = (name: string, bytes: string | Buffer) =>
    writeFileSync((files[name] = join(fixture.folder, name)), bytes);
  write('notes.png', 'no picture');
  write('cut.jpg', readFileSync(files['coast.jpg']!).subarray(0, 4000));
  write('heavy.png', Buffer.alloc(10 * 1024 * 1024 + 1));
});

const make = (id: string) =>
  fixture.json(`identity put --id ${id} --name ${id} --slug ${id} --description ${id} --catalog founding`);
const stored = (id: string) =>
  allObjects(fixture.folder).filter(({ key }) => key.startsWith(`samples/${id}/`));
const keys = (id: string) =>
  stored(id)
    .map(({ key }) => key)
    .sort();

test('samples are made of files: upright, small enough and without metadata', async () => {
  await make('aurora');
  const put = await fixture.json(
    `identity put --id aurora --sample ${files['coast.jpg']} --sample ${files['town.png']} --sample-prompt`,
    'A coast',
    '--sample-prompt',
    'A town',
  );
  const sampleId = expect.stringMatching(/^[0-9a-f]{32}$/);
  expect(put.samples).toEqual([
    { sampleId, width: 512, height: 1024, prompt: 'A coast' },
    { sampleId, width: 640, height: 640, prompt: 'A town' },
  ]);
  expect(await fixture.json('identity show aurora')).toEqual(put);
  const [coast] = put.samples;
  const found = new Map(stored('aurora').map(({ key, file }) => [key, file]));
  expect(found.size).toBe(4);
  const sizes = { '': [512, 1024], '-thumbnail': [256, 512] };
  for (const [suffix, [width, height]] of Object.entries(sizes)) {
    const file = found.get(`samples/aurora/${coast.sampleId}${suffix}.webp`)!;
    const { exif, xmp, icc, ...metadata } = await sharp(file).metadata();
    expect(metadata).toMatchObject({ format: 'webp', width, height });
    expect([exif, xmp, icc]).toEqual([undefined, undefined, undefined]);
    expect(file.toString('latin1')).toContain('"cache-control":"private, max-age=31536000, immutable"');
  }
});

test('a repeat changes nothing, other samples replace them, and --no-samples removes them', async () => {
  await make('basalt');
  const put = (...names: string[]) =>
    fixture.json(`identity put --id basalt ${names.map((name) => `--sample ${files[name]}`).join(' ')}`);
  const first = await put('coast.jpg', 'town.png', 'coast.jpg');
  expect(first.samples).toMatchObject([{ prompt: null }, { prompt: null }]);
  const before = keys('basalt');
  expect(await put('coast.jpg', 'town.png')).toEqual(first);
  expect(keys('basalt')).toEqual(before);
  // A change of something else leaves them alone.
  expect(await fixture.json('identity put --id basalt --name Stone')).toEqual({ ...first, name: 'Stone' });
  expect(keys('basalt')).toEqual(before);
  const { samples } = await put('town.png');
  expect(samples).toEqual([first.samples[1]]);
  expect(keys('basalt')).toEqual(before.filter((key) => key.includes(samples[0].sampleId)));
  expect(await fixture.json('identity put --id basalt --no-samples')).toMatchObject({ samples: [] });
  expect(keys('basalt')).toEqual([]);
  const { entries } = await fixture.json('audit --identities');
  const ofSamples = entries
    .filter(({ subjectId }: any) => subjectId === 'basalt')
    .flatMap(({ changes }: any) => changes)
    .filter(({ member }: any) => member === 'samples');
  expect(ofSamples[0]).toEqual({ member: 'samples', from: [samples[0].sampleId], to: [] });
});

test('samples are shown while the version that they are of is active', async () => {
  await make('grove');
  const { samples } = await fixture.json(`identity put --id grove --sample ${files['town.png']}`);
  expect((await fixture.json('identity put --id grove --note Second')).samples).toEqual([]);
  const activate = (number: number) => fixture.json(`identity activate grove ${number} --no-wait`);
  expect((await activate(1)).samples).toEqual(samples);
  expect((await activate(2)).samples).toEqual([]);
  expect(keys('grove')).toHaveLength(2);
});

test('what an interrupted command left behind goes with a later one, what may still be named stays', async () => {
  await make('drift');
  await fixture.json(`identity put --id drift --sample ${files['coast.jpg']}`);
  const left = keys('drift');
  // As if the catalog had never been written.
  const catalog = identityStore(fixture.table);
  await catalog.put({ ...(await catalog.get('drift'))!, samples: [] });
  await fixture.json(`identity put --id drift --sample ${files['town.png']}`);
  expect(keys('drift')).toEqual(expect.arrayContaining(left));
  const { sampleStore } = await import('../../../shared/identities/sample-store.ts');
  const store = sampleStore('images');
  const { samples } = (await catalog.get('drift'))!;
  await store.deleteUnnamed('drift', samples, [], Date.now() + 3_700_000);
  store.close();
  expect(keys('drift').filter((key) => left.includes(key))).toEqual([]);
  expect(keys('drift')).toHaveLength(2);
});

test('of operators who give the same picture while another takes it away, none has a sample without its files', async () => {
  const id = 'ember';
  await make(id);
  const command = (...names: string[]) =>
    fixture.json(`identity put --id ${id} ${names.map((name) => `--sample ${files[name]}`).join(' ')}`);
  for (let i = 0; i < 5; i++) {
    await Promise.all([command('town.png'), command('coast.jpg'), command('town.png', 'coast.jpg')]);
    const { samples } = await fixture.json(`identity show ${id}`);
    const named = samples.flatMap(({ sampleId }: any) => [`${sampleId}.webp`, `${sampleId}-thumbnail.webp`]);
    expect(keys(id)).toEqual(expect.arrayContaining(named.map((name: string) => `samples/${id}/${name}`)));
  }
});

test('a picture that is named no more gets another name when it is given again', async () => {
  const { sampleStore } = await import('../../../shared/identities/sample-store.ts');
  const store = sampleStore('images');
  const bytes = (text: string) => new Uint8Array(Buffer.from(text));
  const one = { picture: bytes('a'), thumbnail: bytes('b'), widthPx: 1, heightPx: 1, prompt: 'first' };
  const first = await store.putter('flint', [one])([]);
  const again = store.putter('flint', [{ ...one, prompt: 'second' }, one]);
  expect(await again(first)).toEqual(first);
  const [renamed, ...more] = await again([]);
  expect(more).toEqual([]);
  expect(renamed!.sampleId).not.toBe(first[0]!.sampleId);
  expect(await again([])).toEqual([renamed]);
  store.close();
  expect(keys('flint')).toHaveLength(4);
});

test.each([
  ['notes.png', 'must be a PNG, JPEG or WebP image'],
  ['cut.jpg', 'must be undamaged'],
  ['huge.png', 'must have at most 40 megapixels'],
  ['heavy.png', 'must be at most 10 MiB'],
  ['missing.png', "can't be read (ENOENT)"],
])('a file that can not be used is refused before anything is written: %s', async (name, problem) => {
  const id = name.replace('.', '-');
  const made = await make(id);
  const path = join(fixture.folder, name);
  const words = `identity put --id ${id} --sample ${files['town.png']} --sample ${path} --name New`;
  expect(await fixture.refused(1, words)).toContain(`--sample ${path} ${problem}`);
  expect(await fixture.json(`identity show ${id}`)).toEqual(made);
  expect(keys(id)).toEqual([]);
});

test('where only a table is named, there is no bucket to put samples to', async () => {
  const words = `--table ${fixture.table.name} identity put --id aurora --no-samples`;
  expect(await fixture.refused(2, words)).toContain('--stack');
});
