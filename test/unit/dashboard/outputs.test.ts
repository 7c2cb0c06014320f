import { expect, test } from '@jest/globals';
import { outputFileName, outputSeed } from '../../../dashboard/src/lib/outputs.ts';

const request = { requestId: '01a1fe17-7ebc-7396-8df3-f13b595bdbd4', identityName: 'Aurora', seed: 42 };

test('each image of a request has a seed of its own, which begins anew after the largest', () => {
  expect([0, 3].map((i) => outputSeed(42, i))).toEqual([42, 45]);
  expect([0, 1, 2].map((i) => outputSeed(2 ** 32 - 2, i))).toEqual([2 ** 32 - 2, 2 ** 32 - 1, 0]);
});

test('a saved image is named after its identity, its request, its place and its seed', () => {
  expect(outputFileName(request, 1)).toBe('aurora-595bdbd4-1-seed43.png');
});

test.each([
  ['../Bär & Söhne', 'bar-sohne'],
  ['Café / Noir: 2', 'cafe-noir-2'],
  ['../..', 'image'],
  ['光', 'image'],
  ['x'.repeat(300), 'x'.repeat(60)],
])('a saved name of %j holds nothing that a file system refuses', (identityName, name) => {
  expect(outputFileName({ ...request, identityName }, 0)).toBe(`${name}-595bdbd4-0-seed42.png`);
});
