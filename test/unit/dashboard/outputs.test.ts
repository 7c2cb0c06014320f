import { expect, test } from '@jest/globals';
import { outputFileName, outputSeed, sourcesOf, thumbnailOf } from '../../../dashboard/src/lib/outputs.ts';
import * as fc from 'fast-check';
import { creditCost } from '../../../dashboard/src/lib/credits.ts';
import { creditCost as chargedCost } from '../../../shared/licenses/credits.ts';

const request = { requestId: '01a1fe17-7ebc-7396-8df3-f13b595bdbd4', identityName: 'Aurora', seed: 42 };

test('each image of a request has the next seed, and 0 follows the largest', () => {
  expect([0, 1, 2].map((i) => outputSeed(2 ** 32 - 2, i))).toEqual([2 ** 32 - 2, 2 ** 32 - 1, 0]);
});

test.each([
  ['https://images.example/output-0.png?X-Amz-Signature=a.webp', 'png'],
  ['https://images.example/output-0.webp?x', 'webp'],
  ['https://images.example/output-0.jpg?x', 'jpg'],
  ['https://images.example/output-0', 'png'],
  ['https://images.example/a.exe?b=/c.webp#d.jpg', 'png'],
])(
  'the image of the link %s is saved under its identity, request, place and seed, as %s',
  (other, extension) => {
    expect(outputFileName(request, 1, other)).toBe(`aurora-595bdbd4-1-seed43.${extension}`);
  },
);

test.each([
  ['../Bär & Söhne', 'bar-sohne'],
  ['../..', 'image'],
  ['光', 'image'],
  ['x'.repeat(300), 'x'.repeat(60)],
])('a saved name of %j holds nothing that a file system refuses', (identityName, name) => {
  expect(outputFileName({ ...request, identityName }, 0, 'https://images.example/a.png')).toBe(
    `${name}-595bdbd4-0-seed42.png`,
  );
});

test('the cost that is shown before sending is what the service charges, for every size and number', () => {
  const side = fc.oneof(
    fc.integer({ min: 8, max: 64 }).map((steps) => steps * 64),
    fc.nat({ max: 10_000 }),
  );
  const order = fc.record({ width: side, height: side, numOutputs: fc.integer({ min: 1, max: 100 }) });
  fc.assert(fc.property(order, (asked) => expect(creditCost(asked)).toBe(chargedCost(asked))));
});

test('a small place shows the preview, and the image where there is none', () => {
  const [outputs, previews] = [
    ['image 0', 'image 1'],
    ['preview 0', null],
  ];
  expect([0, 1].map((i) => thumbnailOf({ outputs, previews }, i))).toEqual(['preview 0', 'image 1']);
  const older = { outputs, previews: undefined } as unknown as Parameters<typeof thumbnailOf>[0];
  expect(thumbnailOf(older, 0)).toBe('image 0');
});

test.each([
  [2048, 1024, 512],
  [1024, 2048, 256],
])('of %i × %i a browser may choose the preview, %i px wide', (width, height, previewWidth) => {
  const pictured = { outputs: ['image'], previews: ['preview'], width, height };
  expect(sourcesOf(pictured, 0)).toEqual({
    src: 'image',
    srcSet: `preview ${previewWidth}w, image ${width}w`,
  });
  expect(sourcesOf({ ...pictured, previews: [null] }, 0)).toEqual({ src: 'image' });
});
