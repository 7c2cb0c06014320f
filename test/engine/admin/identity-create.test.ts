import { join } from 'node:path';
import { S3 } from '@aws-sdk/client-s3';
import { beforeAll, expect, test } from '@jest/globals';
import { adapterBucket, sha256OfFile } from '../../../bin/admin/adapter/bucket.ts';
import { readAdapterFile } from '../../../bin/admin/adapter/file.ts';
import { checkAdapterFile } from '../../../bin/admin/identity-adapter.ts';
import { adapterCases, writeAdapter } from '../../support/adapter-files.ts';
import { allObjects } from '../../support/objects.ts';
import { useAdmin } from './fixture.ts';

const fixture = useAdmin();
/** Paths of adapters by the beginnings of their names. */
const path = (name: string) => join(fixture.folder, `${name}.safetensors`);
const objects = () => allObjects(fixture.folder).map(({ key }) => key);
const sdxl = 'LyCORIS-LoHa';
/** Two parts of an upload. */
const large = 'unet.mid_block.attentions.0.proj_in';

beforeAll(() => {
  const { good, broken } = adapterCases;
  const named = (cases: typeof good, start: string) => cases.find(({ name }) => name.startsWith(start))!;
  writeAdapter(fixture.folder, sdxl, named(good, "LyCORIS' LoHa"));
  writeAdapter(fixture.folder, 'z-image', named(good, "ai-toolkit's Z-Image"));
  writeAdapter(fixture.folder, 'sd-1.5', named(broken, 'of Stable Diffusion 1.5'));
  writeAdapter(fixture.folder, 'whole', {
    name: 'whole',
    tensors: { 'model.diffusion_model.input_blocks.0.0.weight': ['F16', 320, 4] },
  });
  writeAdapter(fixture.folder, 'large', {
    name: 'large',
    tensors: {
      [`${large}.lora_A.weight`]: ['F32', 2000, 1280],
      [`${large}.lora_B.weight`]: ['F32', 1280, 2000],
    },
  });
});

test('a file says its name, description, words, licence and creator itself, and options win', async () => {
  const dry = await fixture.json(`identity create ink --adapter ${path(sdxl)} --dry-run`);
  expect(dry).toMatchObject({ dryRun: true, slug: 'ink' });
  expect([objects(), await fixture.json('identity list')]).toEqual([[], { identities: [] }]);

  const sha256 = await sha256OfFile(path(sdxl));
  const made = await fixture.json(`identity create ink --adapter ${path(sdxl)} --rights CC0-1.0`);
  expect(made).toMatchObject({
    name: 'Ink & Salt',
    description: 'Wet ink, slow tides.',
    catalog: 'specialist',
    productPhotos: false,
    model: {
      number: 1,
      adapterKey: `adapters/${sha256}.safetensors`,
      adapterSha256: sha256,
      baseModel: 'sdxl',
      settings: {},
      words: { triggerWords: ['inksalt', 'tide'] },
      rights: { license: 'CC0-1.0', source: 'Ada' },
    },
    adapter: { baseModel: 'sdxl', kind: 'LoHa', format: 'LyCORIS', layers: 3, stageModel: null },
    uploaded: true,
  });
  const { adapter: _, uploaded: _uploaded, ...stored } = made;
  expect(await fixture.json(`identity show ${made.id}`)).toEqual(stored);
  expect(objects()).toEqual([`adapters/${sha256}.safetensors`]);

  expect(await fixture.refused(1, `identity create ink --adapter ${path(sdxl)}`)).toContain(
    'The slug ink belongs',
  );
  // What was uploaded once is not uploaded again.
  const again = await fixture.json(
    `identity create ink-2 --adapter ${path(sdxl)} --trigger qx7 --description`,
    'Ink.',
  );
  expect(again).toMatchObject({ uploaded: false, description: 'Ink.' });
  expect(again.model.words.triggerWords).toEqual(['qx7']);
  // Another file makes the next version.
  const put = await fixture.json(`identity put --id ink-2 --adapter ${path('z-image')}`);
  expect(put.model).toMatchObject({
    number: 2,
    adapterSha256: await sha256OfFile(path('z-image')),
    baseModel: 'z-image',
  });
});

test('a file that does not fit is refused before anything is uploaded', async () => {
  const before = objects();
  const said = await fixture.refused(1, `identity create x --adapter ${path('sd-1.5')} --description x`);
  expect(said).toContain('fits none of SDXL, Z-Image, FLUX.2 [klein] 4B: its tensors are lora_unet_down_');
  expect(said).toContain('The file says that it was trained on "sd_v1".');
  expect(await fixture.refused(1, `identity create x --adapter ${path('whole')}`)).toContain(
    'It looks like a whole model',
  );
  expect(await fixture.refused(1, 'identity create x --adapter x.pt')).toContain('is a pickle');
  expect(objects()).toEqual(before);
});

test('a file of several parts arrives whole, and one that changes meanwhile not at all', async () => {
  const { id, model } = await fixture.json(
    `identity create large --adapter ${path('large')} --description x`,
  );
  const key = model.adapterKey;
  const put = `identity put --id ${id} --adapter-key ${key} --adapter-sha256 `;
  expect((await fixture.json(put + model.adapterSha256)).model.number).toBe(2);

  const bucket = adapterBucket(fixture.engines.bucketName);
  const file = await readAdapterFile(path('large'));
  const before = objects();
  const other = { key: 'adapters/other', sha256: 'f'.repeat(64) };
  await expect(bucket.upload(file, other, () => {})).rejects.toThrow('was changed while it was uploaded');
  bucket.close();
  expect(objects()).toEqual(before);
});

test('an identity is put only with a file that is there and has the SHA-256 that was given', async () => {
  const made = await fixture.json(`identity create sound --adapter ${path(sdxl)}`);
  const { adapterKey: key, adapterSha256: sha256 } = made.model;
  const put = `identity put --id ${made.id}`;
  expect(await fixture.refused(1, `${put} --adapter-key adapters/missing`)).toContain(
    'There is no file s3://images/adapters/missing',
  );
  const other = await fixture.refused(1, `${put} --adapter-key ${key} --adapter-sha256 ${'0'.repeat(64)}`);
  expect(other).toContain(`has the SHA-256 ${sha256}, not 0000`);
  expect((await fixture.json(`identity show ${made.id}`)).model).toEqual(made.model);
  expect(
    (await fixture.json(`${put} --adapter-key ${key} --adapter-sha256 ${sha256.toUpperCase()}`)).model.number,
  ).toBe(2);
});

test("a file must be of the model that the stage's files are of", async () => {
  const s3 = new S3({});
  const put = (Key: string, of: object) =>
    s3.putObject({ Bucket: fixture.engines.bucketName, Key, Body: JSON.stringify(of) });
  await put('models/xl/model.json', { name: 'sdxl-1', digest: 'ab'.repeat(32) });
  await put('models/xl/model_index.json', { _class_name: 'StableDiffusionXLPipeline' });
  await put('models/own/model_index.json', { _class_name: 'MyPipeline' });
  s3.destroy();
  const check = (prefix: string, name: string) =>
    checkAdapterFile({ modelData: `s3://${fixture.engines.bucketName}/models/${prefix}/` }, path(name));
  expect((await check('xl', sdxl)).stage).toEqual({
    version: 'sdxl-1@abababababab',
    pipeline: 'StableDiffusionXLPipeline',
  });
  await expect(check('xl', 'z-image')).rejects.toThrow(
    'is an adapter for Z-Image, and this stage generates with SDXL',
  );
  await expect(check('own', sdxl)).rejects.toThrow('The stage generates with MyPipeline');
});
