import { mkdtempSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { readAdapterFile } from '../../../bin/admin/adapter/file.ts';
import { factsOf } from '../../../bin/admin/adapter/metadata.ts';
import { baseModels, recognise } from '../../../bin/admin/adapter/recognise.ts';
import { adapterCases, writeAdapter, type AdapterCase } from '../../support/adapter-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'adapters-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function find(of: AdapterCase, model: string | null = null) {
  const base = baseModels.find(({ kind }) => kind === model) ?? null;
  return recognise(await readAdapterFile(writeAdapter(folder, 'a', of)), base);
}

test.each(adapterCases.good)('$name is recognised', async (of) => {
  const { adapter, misfits } = await find(of);
  const { base, kind, format, ranks, layers } = adapter;
  expect(misfits).toEqual([]);
  const rank = ranks.length === 0 ? 'no rank' : `rank ${ranks.join(' and ')}`;
  expect(`${base.name}, ${kind}, ${format}, ${rank}, ${layers} layers`).toBe(of.found);
  // And it fits no other model.
  for (const other of baseModels.filter((one) => one !== base)) {
    expect((await find(of, other.kind)).misfits).not.toEqual([]);
  }
});

test.each(adapterCases.broken)('$name is refused', async (of) => {
  const refusal = await find(of).then(
    ({ misfits }) => misfits.map(({ tensor, why }) => `${tensor} ${why}`).join('\n'),
    (error: Error) => error.message,
  );
  expect(refusal).toContain(of.says);
});

test('neither a huge file nor a huge header is read', async () => {
  const path = writeAdapter(folder, 'huge', { name: 'huge', bytes: '\u0001\u00e1\u00f5\u0005\0\0\0\0{}' });
  truncateSync(path, 100_010_000);
  await expect(readAdapterFile(path)).rejects.toThrow('its header is too long');
  truncateSync(path, 2 * 1024 ** 3 + 1);
  await expect(readAdapterFile(path)).rejects.toThrow('2 GiB are the most');
});

const twenty = JSON.stringify({ '10_qx7': { img_count: 20 } });
const tags = (counts: object) => ({
  ss_dataset_dirs: twenty,
  ss_tag_frequency: JSON.stringify({ '10_qx7': counts }),
});

test.each<[string, Record<string, string>, object]>([
  ['the words of every image', tags({ qx7: 20, 'ink ': 20, tree: 8 }), { triggerWords: ['qx7', 'ink'] }],
  ['no word that some images lack', tags({ tree: 8, sea: 7 }), {}],
  ['no captions', tags({ 'a b': 20, c: 20, d: 20, e: 20 }), {}],
  ['the one word of ai-toolkit', { ss_tag_frequency: '{"1_qx7":{"qx7":1}}' }, { triggerWords: ['qx7'] }],
  ["a person's words first", { 'modelspec.title': 'Ink', ss_output_name: 'ink-000007' }, { name: 'Ink' }],
  ['lines joined', { 'modelspec.description': 'Wet\n\n ink. ' }, { description: 'Wet ink.' }],
  ['nothing that would not fit', { 'modelspec.title': 'x'.repeat(101), 'modelspec.license': '\u0007' }, {}],
  [
    'nothing of nonsense',
    { ss_tag_frequency: '[', ss_dataset_dirs: '{"a":1}', 'modelspec.trigger_phrase': ' , ' },
    {},
  ],
  ['nothing of other kinds', { ss_tag_frequency: '{"a":[],"b":{"x":"y"},"__proto__":{"p":{}}}' }, {}],
])("of a file's metadata: %s", (_what, metadata, facts) => {
  expect(factsOf(metadata)).toEqual(facts);
});
