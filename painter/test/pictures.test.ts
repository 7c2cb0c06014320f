import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { PictureOptions } from '../src/art/paint.ts';
import { formNames } from '../src/art/styles/forms.ts';
import { MODEL_VERSION } from '../src/model-version.ts';
import { createPool } from '../src/pool.ts';
import { never, paint, paintFile, pool, small } from './support/painting.ts';

/** The beginning of the SHA-256 of each style's pixels; they may only change together with the model's version. */
const pinned: Record<string, string> = {
  aurora: '24a5365c4773e639',
  basalt: 'ae703a5527852de9',
  citrine: 'e9e3b1f322355248',
  drift: '58adf8ece1e113dd',
  harbor: 'cc6c20cd474fde8f',
};

test.each(formNames)('%s still paints what this version of the model has always painted', async (style) => {
  const picture = await paint({
    style,
    prompt: 'a quiet morning',
    numInferenceSteps: 30,
    identityId: 'x',
  });
  const digest = createHash('sha256').update(picture.bytes).digest('hex');

  expect([MODEL_VERSION, digest.slice(0, 16)]).toEqual(['painter-1', pinned[style]]);
});

test('an identity without a known style has a look of its own, the same bytes each time', async () => {
  const [one, again, other] = await Promise.all(
    ['a', 'a', 'b'].map((identityId) => paintFile({ style: 'unknown', identityId })),
  );
  const [first, second] = await Promise.all(['a', 'b'].map((identityId) => paint({ style: '', identityId })));

  expect(Buffer.compare(one!, again!)).toBe(0);
  expect(Buffer.compare(one!, other!)).not.toBe(0);
  expect(Buffer.compare(first!.bytes, second!.bytes)).not.toBe(0);
});

test.each<[string, Partial<PictureOptions>]>([
  ['seed', { seed: 8 }],
  ['prompt', { prompt: 'a quiet sea with a boat, again' }],
  ['negative prompt', { negativePrompt: 'boat' }],
  ['number of steps', { numInferenceSteps: 50 }],
  ['guidance scale', { guidanceScale: 16 }],
  ['size', { width: 576 }],
])('another %s is another picture', async (_name, changes) => {
  const [before, after] = await Promise.all([paint(), paint(changes)]);

  expect(after).toMatchObject({ width: changes.width ?? 512, height: 512 });
  expect(Buffer.compare(before.bytes, after.bytes)).not.toBe(0);
});

describe('a painting thread', () => {
  test('reports its steps in order, to the last', async () => {
    const steps: number[] = [];
    await pool().paint(small, never, (step) => steps.push(step));

    expect(steps).toEqual([...new Set(steps)].toSorted((a, b) => a - b));
    expect(steps.at(-1)).toBe(20);
  });

  test('stops a picture that its caller has given up, and paints the next', async () => {
    const single = createPool(1);
    const steps: number[] = [];
    const giveUp = new AbortController();
    const reason = new Error('nobody waits');
    const given = single.paint({ ...small, width: 2048, height: 2048 }, giveUp.signal, (step) => {
      steps.push(step);
      giveUp.abort(reason);
    });

    await expect(given).rejects.toBe(reason);
    await single.paint(small, never, () => undefined);
    expect(steps).toHaveLength(1);
    await single.close();
  });

  test('fails a picture that cannot be painted, and paints the next', async () => {
    const broken = pool().paint({ ...small, numInferenceSteps: -1, width: -1 }, never, () => undefined);

    await expect(broken).rejects.toThrow();
    expect((await paint()).width).toBe(512);
  });
});
