import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { readAdapterFile } from '../../../bin/admin/adapter/file.ts';
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
