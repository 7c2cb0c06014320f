import { expect, test } from '@jest/globals';
import { previewCacheControl, quarterOf } from '../../../shared/images/previews.ts';
import { samplePictureKey, samplePrefix, sampleThumbnailKey } from '../../../shared/images/sample-keys.ts';

test('links to previews are signed as of a quarter of an hour, and browsers keep what lies there for a year', () => {
  const [begins, last] = [Date.UTC(2026, 4, 17, 12, 15), Date.UTC(2026, 4, 17, 12, 29, 59, 999)];
  expect([quarterOf(begins), quarterOf(last), quarterOf(last + 1)]).toEqual([begins, begins, last + 1]);
  expect(previewCacheControl).toBe('private, max-age=31536000, immutable');
});

test("an identity's samples lie under its id", () => {
  const keys = [samplePrefix('idn_1'), samplePictureKey('idn_1', 's'), sampleThumbnailKey('idn_1', 's')];
  expect(keys).toEqual(['samples/idn_1/', 'samples/idn_1/s.webp', 'samples/idn_1/s-thumbnail.webp']);
});
