import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { isUploadId, newUploadId, uploadExpiresAtMs, uploadKey } from '../../../shared/images/upload.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { anyInstantMs } from '../../support/unit-samples.ts';

describe('an upload', () => {
  test('says by its id when it was opened, and is over an hour later to the millisecond', () => {
    fc.assert(
      fc.property(anyInstantMs, (nowMs) => {
        const uploadId = newUploadId(nowMs);
        expect(isUploadId(uploadId)).toBe(true);
        expect(uploadExpiresAtMs(uploadId)).toBe(nowMs + 3_600_000);
      }),
    );
  });

  test('lies under its license', () => {
    const uploadId = newUploadId(0);
    expect(uploadKey({ licenseId: 'lic_1', uploadId })).toBe(`uploads/lic_1/${uploadId}`);
  });
});

test('no text is an upload’s id that could be more than one part of a key', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: anyCharacter }), fc.webPath(), fc.uuid()), (text) => {
      for (const id of [text, `upl_${text}`]) if (isUploadId(id)) expect(id).toMatch(/^upl_[0-9a-f-]{36}$/);
    }),
  );
  const good = newUploadId(1);
  for (const bad of [good.toUpperCase(), ` ${good}`, `${good}\n`, `${good}/`, good.slice(4), `${good}0`]) {
    expect({ bad, taken: isUploadId(bad) }).toEqual({ bad, taken: false });
  }
});
