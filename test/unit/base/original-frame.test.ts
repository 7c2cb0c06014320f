import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { originalFrame } from '../../../shared/base/original-frame.ts';

let folder: string;

const source = `
export function fail(): never {
  throw new Error('it failed');
}
`;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'original-frame-'));
  writeFileSync(join(folder, 'fail.ts'), source);
  for (const outfile of ['good.cjs', 'broken.cjs', 'bare.cjs'].map((name) => join(folder, name))) {
    const options = { format: 'cjs', bundle: true, minify: true, sourcemap: 'external' } as const;
    await build({ entryPoints: [join(folder, 'fail.ts')], outfile, ...options });
  }
  writeFileSync(join(folder, 'broken.cjs.map'), '{');
  rmSync(join(folder, 'bare.cjs.map'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The first frame of an error that a bundle throws. */
function frameOf(bundle: string): string {
  try {
    createRequire(import.meta.url)(join(folder, bundle)).fail();
  } catch (error) {
    return (error as Error).stack!.split('\n')[1]!.trim();
  }
  throw new Error('it did not fail');
}

test('a place in a bundle is shown as the place in its source', () => {
  expect(frameOf('good.cjs')).toMatch(/good\.cjs:1:\d+/);
  expect(originalFrame(frameOf('good.cjs'))).toBe('at fail.ts:3:9');
});

test.each(['broken.cjs', 'bare.cjs'])('a place in %s, whose map cannot be read, stays as it is', (bundle) => {
  expect(originalFrame(frameOf(bundle))).toBe(frameOf(bundle));
});

test.each(['at new Promise (<anonymous>)', 'at node:internal/process/task_queues:95:5', 'at /a.js:x'])(
  '%s is no place in a bundle',
  (frame) => expect(originalFrame(frame)).toBe(frame),
);
