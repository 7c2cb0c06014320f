import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { encodePng } from '../../../local/painter/art/png.ts';
import { decodePng } from './png-decoder.ts';

describe('the PNG encoder', () => {
  test('writes files that decode to the same pixels, whatever they are', () => {
    const image = fc
      .tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 40 }))
      .chain(([width, height]) =>
        fc
          .uint8Array({ minLength: width * height * 3, maxLength: width * height * 3 })
          .map((bytes) => ({ width, height, bytes })),
      );
    fc.assert(
      fc.property(image, (pixels) => {
        const decoded = decodePng(encodePng(pixels, {}));
        expect(decoded).toMatchObject({ width: pixels.width, height: pixels.height });
        expect(Buffer.compare(decoded.bytes, pixels.bytes)).toBe(0);
      }),
    );
  });

  test('writes texts as UTF-8, also those that are no valid Unicode', () => {
    const texts = { parameters: 'é 漢 🎨', Software: 'painter' };
    const pixels = { width: 1, height: 1, bytes: new Uint8Array(3) };

    expect(decodePng(encodePng(pixels, texts)).texts).toEqual(texts);
    expect(decodePng(encodePng(pixels, { parameters: 'a\ud800b' })).texts.parameters).toBe('a\ufffdb');
  });
});
