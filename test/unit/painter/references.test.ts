import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { oklab } from '../../../local/painter/art/colour.ts';
import { leastMap, times } from '../../../local/painter/art/references/matrix.ts';
import { encodeSrgb, writeOklab } from '../../../local/painter/art/references/oklab.ts';
import { regionsOf } from '../../../local/painter/art/references/regions.ts';
import { createGate } from '../../../local/painter/gate.ts';

const step = fc.integer({ min: 0, max: 255 });

test('OKLab and back is the same color', () => {
  fc.assert(
    fc.property(step, step, step, (red, green, blue) => {
      const lab = new Float32Array(3);
      writeOklab(red, green, blue, lab, 0);
      const back = oklab(lab[0]!, lab[1]!, lab[2]!).map(encodeSrgb);
      for (const [i, value] of [red, green, blue].entries())
        expect(Math.abs(back[i]! - value)).toBeLessThan(0.3);
    }),
  );
});

test('the map between two palettes turns one covariance into the other and is symmetric', () => {
  const entry = fc.double({ min: -1, max: 1, noNaN: true });
  const covariance = fc.array(entry, { minLength: 9, maxLength: 9 }).map((m) => {
    const turned = m.map((_, k) => m[(k % 3) * 3 + Math.floor(k / 3)]!);
    return times(m, turned).map((value, k) => value + (k % 4 === 0 ? 0.01 : 0));
  });
  fc.assert(
    fc.property(covariance, covariance, (a, b) => {
      const map = leastMap(a, b);
      for (const [k, value] of times(times(map, a), map).entries()) expect(value).toBeCloseTo(b[k]!, 4);
      for (const [i, j] of [
        [1, 3],
        [2, 6],
        [5, 7],
      ] as const)
        expect(map[i]!).toBeCloseTo(map[j]!, 4);
    }),
  );
});

test('the regions of several references cover the picture without overlapping', () => {
  const side = fc.integer({ min: 8, max: 32 }).map((n) => n * 64);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), side, side, (count, width, height) => {
      const regions = regionsOf(count, { width, height });
      expect(regions).toHaveLength(count);
      const area = regions.reduce((sum, each) => sum + each.width * each.height, 0);
      expect(area).toBeCloseTo(width * height, 3);
      expect(new Set(regions.map(({ x, y }) => `${x} ${y}`)).size).toBe(count);
      for (const { x, y, ...region } of regions) {
        expect(x + region.width).toBeLessThanOrEqual(width + 1e-6);
        expect(y + region.height).toBeLessThanOrEqual(height + 1e-6);
      }
    }),
  );
});

describe('the gate', () => {
  const never = new AbortController().signal;
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  test('lets in as many as there is room for, in their order, also after failures', async () => {
    const gate = createGate(2);
    const inside: number[] = [];
    const works = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
    const all = works.map(({ promise }, i) =>
      gate.through(async () => {
        inside.push(i);
        await promise;
      }, never),
    );
    const settled = Promise.allSettled(all);
    await turn();
    expect(inside).toEqual([0, 1]);
    works[1]!.reject(new Error('broken'));
    await turn();
    expect(inside).toEqual([0, 1, 2]);
    for (const { resolve } of works) resolve();

    expect((await settled).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
      'fulfilled',
    ]);
    expect(inside).toEqual([0, 1, 2, 3, 4]);
  });

  test('gives up at once, but keeps the place until the work has really ended', async () => {
    const gate = createGate(1);
    const [work, giveUp] = [Promise.withResolvers<void>(), new AbortController()];
    const first = gate.through(() => work.promise, giveUp.signal);
    const waiting = gate.through(() => Promise.resolve('never'), giveUp.signal);
    let entered = false;
    const last = gate.through(async () => {
      entered = true;
    }, never);
    const reason = new Error('nobody waits');
    const givenUp = Promise.allSettled([first, waiting]);
    await turn();
    giveUp.abort(reason);

    expect(await givenUp).toEqual([
      { status: 'rejected', reason },
      { status: 'rejected', reason },
    ]);
    await turn();
    expect(entered).toBe(false);
    work.resolve();
    await last;
    expect(entered).toBe(true);
    await expect(gate.through(() => Promise.resolve(), giveUp.signal)).rejects.toBe(reason);
  });

  test('does no work for a caller who gave up just as a place came free', async () => {
    const gate = createGate(1);
    const giveUp = new AbortController();
    let worked = false;
    const entering = gate.through(async () => {
      worked = true;
    }, giveUp.signal);
    giveUp.abort(new Error('gone'));

    await expect(entering).rejects.toThrow('gone');
    expect(worked).toBe(false);
    expect(await gate.through(() => Promise.resolve('next'), never)).toBe('next');
  });
});
