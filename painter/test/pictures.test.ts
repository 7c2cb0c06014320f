import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { formNames } from '../src/art/styles/forms.ts';
import { MODEL_VERSION } from '../src/model-version.ts';
import { createPool } from '../src/pool.ts';
import { never, paint, pool, small } from './support/painting.ts';

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
