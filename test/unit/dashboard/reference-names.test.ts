import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { IdentityAnswer, StoredGeneration } from '../../../dashboard/src/lib/types.ts';
import { fillReferences } from '../../../dashboard/src/screens/playground/fill-form.ts';
import { failureText } from '../../../dashboard/src/screens/playground/results.ts';
import {
  nameRefusals,
  readRefusals,
  referenceName,
  toReferenceBodies,
  toSampleReferences,
  urlParts,
  usableUploadId,
  type Reference,
} from '../../../dashboard/src/screens/playground/references/reference.ts';
import { readReferenceUrl } from '../../../dashboard/src/screens/playground/references/add-references.ts';
import { parseReferenceUrl } from '../../../shared/references/contract.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { runs } from '../../support/runs.ts';

const url = 'https://shop.example/p/red%20cup.jpg?w=9';
const address: Reference = { kind: 'url', id: '1', url, problem: null };
const refused: Reference = { kind: 'refused', id: '2', name: 'logo.svg', problem: 'It can’t be used.' };
const upload = { status: 'done', licenseId: 'lic_1', uploadId: 'upl_1', askedAtMs: 1000 } as const;
const photo: Reference = {
  kind: 'file',
  id: '3',
  file: new File(['x'], 'cup.png'),
  picture: { format: 'png', widthPx: 64, heightPx: 64 },
  problem: null,
  upload,
};

describe('an address', () => {
  test.each<[string, RegExp]>([
    ['', /^Enter the address/],
    ['http://shop.example/cup.jpg', /^Only https/],
    ['shop.example/cup.jpg', /begins with https/],
    ['https://shop.example/a b.jpg', /space/],
    ['https://shop.example\\a.jpg', /character/],
    ['https://user@shop.example/a.jpg', /no user/],
    ['https://shop.example:8443/a.jpg', /port/],
    ['https://127.0.0.1/a.jpg', /IP address/],
    ['https://[::1]/a.jpg', /IP address/],
    ['https://localhost/a.jpg', /host name/],
    [`https://shop.example/${'a'.repeat(2028)}`, /^At most 2048/],
  ])('is refused with the reason: %j', (text, problem) => {
    expect(readReferenceUrl(text)).toEqual({ problem: expect.stringMatching(problem) });
  });

  test('is taken exactly when the service takes its text', () => {
    const scheme = fc.constantFrom('https://', 'HTTPS://', 'https:/', 'http://');
    const odd = fc.constantFrom('a.b.', '.a.b', 'a..b', '1', '0x1.2', 'a_b.c');
    const host = fc.oneof(fc.domain(), fc.ipV4(), fc.ipV6(), odd);
    const port = fc.constantFrom('', '', ':443', ':80', ':', 'u@');
    const slash = fc.constantFrom('', '/', '?', '#');
    const rest = fc.string({ unit: anyCharacter, maxLength: 6 });
    const built = fc.tuple(scheme, port, host, port, slash, rest).map((parts) => parts.join(''));
    const text = fc.oneof(built, fc.webUrl(), fc.string({ unit: anyCharacter })).map((value) => value.trim());
    fc.assert(
      fc.property(text, (value) => {
        const expected = parseReferenceUrl(value) ? { url: value } : { problem: expect.any(String) };
        expect(readReferenceUrl(` ${value}`)).toEqual(expected);
      }),
      { numRuns: runs(500) },
    );
  });

  test('is shown by its host and its file, without what may be secret in its query', () => {
    expect(referenceName(address)).toBe('shop.example/red cup.jpg');
    expect(urlParts('https://shop.example/?token=secret')).toEqual({ host: 'shop.example', file: '' });
    expect(urlParts('https://shop.example/a/%E0%A4%A/')).toEqual({ host: 'shop.example', file: '%E0%A4%A' });
  });
});

describe('an upload', () => {
  test('can be used for its license until shortly before it expires', () => {
    expect(usableUploadId(upload, 'lic_1', 1000)).toBe('upl_1');
    expect(usableUploadId(upload, 'lic_1', 1000 + 57 * 60_000)).toBe('upl_1');
    expect(usableUploadId(upload, 'lic_1', 1000 + 59 * 60_000)).toBeNull();
    expect(usableUploadId(upload, 'lic_2', 1000)).toBeNull();
    // A clock that was set back says nothing about its age.
    expect(usableUploadId(upload, 'lic_1', 0)).toBeNull();
    expect(usableUploadId({ status: 'sending', share: 1 }, 'lic_1', 1000)).toBeNull();
  });

  test('has its id in a request, and a placeholder in copied code once it has expired', () => {
    const items = [photo, refused, address];
    expect(toReferenceBodies(items, 'lic_1', 1000)).toEqual([{ uploadId: 'upl_1' }, { url }]);
    expect(toReferenceBodies(items, 'lic_2', 1000)).toBeNull();
    expect(toSampleReferences(items, 'lic_2', 1000)).toEqual([{ uploadId: 'UPLOAD_ID' }, { url }]);
  });
});

describe('a refusal of the service', () => {
  const fetching = 'could not be fetched: it must be an image; nothing else';
  const message = `referenceImages[1].url: ${fetching}. referenceImages[0].uploadId: must be undamaged.`;

  test('is turned into a sentence for each image', () => {
    expect([...readRefusals(message)]).toEqual([
      [1, 'Could not be fetched: it must be an image; nothing else.'],
      [0, 'Must be undamaged.'],
    ]);
    const [whole] = readRefusals('referenceImages[0].url must be an https:// URL.');
    expect(whole).toEqual([0, 'Must be an https:// URL.']);
    expect(readRefusals('width must be a multiple of 64, at least 512.').size).toBe(0);
  });

  test('is shown with the names of the images', () => {
    const expected = `shop.example/red cup.jpg: ${fetching}. cup.png: must be undamaged.`;
    expect(nameRefusals(message, [photo, address])).toBe(expected);
    expect(nameRefusals('referenceImages[3].url: is odd.', [photo])).toBe('referenceImages[3].url: is odd.');
    const errorMessage = 'referenceImages[1]: must be an image: it is odd.';
    const failed = { status: 'FAILED', errorMessage } as StoredGeneration;
    expect(failureText(failed, [address, photo])).toBe(
      'cup.png: must be an image: it is odd. Nothing was charged.',
    );
  });
});

describe('using a stored request again', () => {
  const plain = { type: 'text_to_image' } as StoredGeneration;
  const used = { type: 'reference' } as StoredGeneration;
  const [citrine, harbor] = [true, false].map((productPhotos) => ({ productPhotos }) as IdentityAnswer);

  test('brings the reference images of this visit’s own requests', () => {
    expect(fillReferences(used, [photo], [address], citrine!)).toEqual({ references: [photo], notes: [] });
    expect(fillReferences(plain, [], [address], citrine!)).toEqual({ references: [], notes: [] });
    // An identity that takes none leaves what was added alone.
    expect(fillReferences(plain, [], [address], harbor!)).toEqual({ references: [address], notes: [] });
  });

  test('says of others that their images are gone, and takes out what they did not have', () => {
    const fill = (of: StoredGeneration, added: Reference[]) => fillReferences(of, undefined, added, citrine!);
    const [gone, takenOut] = [
      expect.stringContaining('were deleted'),
      expect.stringContaining('are taken out'),
    ];
    expect(fill(used, [address])).toEqual({ references: [address], notes: [gone] });
    expect(fill(used, [])).toEqual({ references: [], notes: [gone] });
    expect(fill(plain, [address])).toEqual({ references: [], notes: [takenOut] });
    expect(fill(plain, [])).toEqual({ references: [], notes: [] });
  });
});
