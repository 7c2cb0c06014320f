import { expect, test } from '@jest/globals';
import { asReferenceSearch, readAsReference } from '../../../dashboard/src/lib/outputs.ts';
import {
  compareRequests,
  comparedSearch,
  readCompared,
} from '../../../dashboard/src/screens/history/compare/compared.ts';
import { chooseForReference } from '../../../dashboard/src/screens/playground/fill-form.ts';
import type { StoredGeneration } from '../../../shared/generations/answer-contract.ts';
import type { IdentityAnswer } from '../../../shared/identities/contract.ts';
import { storedGeneration as generation } from '../../support/stored-generation.ts';

function differences(change: Partial<StoredGeneration>, [indexA, indexB] = [0, 0]): string[] {
  const [a, b] = [
    { generation, index: indexA! },
    { generation: { ...generation, ...change }, index: indexB! },
  ];
  return compareRequests(a, b).flatMap(({ name, isDifferent }) => (isDifferent ? [name] : []));
}

test('each parameter of a request is compared, and equal ones are not different', () => {
  expect(differences({})).toEqual([]);
  // What distinguishes one request from another is no parameter.
  expect(differences({ id: 'other', createdAt: '2026-01-01T00:00:00.000Z', processingTimeMs: 9 })).toEqual(
    [],
  );
  expect(differences({ prompt: 'a calm Night' })).toEqual(['Prompt']);
  expect(differences({ negativePrompt: 'fog' })).toEqual(['Negative prompt']);
  expect(differences({ identity: { ...generation.identity, id: 'idn_2' } })).toEqual(['Identity']);
  expect(differences({ type: 'reference', referenceImagesUsed: 1 })).toEqual([
    'Type',
    'Reference images used',
  ]);
  expect(differences({ width: 768, height: 1024 })).toEqual(['Size']);
  expect(differences({ steps: 31, cfgScale: 7 })).toEqual(['Steps', 'Guidance scale']);
  expect(differences({ numOutputs: 1, outputFormat: 'webp' })).toEqual(['Outputs', 'Format']);
  expect(differences({ preserveBranding: true })).toEqual(['Preserve branding']);
  expect(differences({ modelVersion: null, creditsCharged: 0 })).toEqual([
    'Model version',
    'Credits charged',
  ]);
});

test('the seed is that of the image that is shown', () => {
  expect(differences({}, [0, 1])).toEqual(['Seed']);
  expect(differences({ seed: generation.seed - 1 }, [0, 1])).toEqual([]);
});

test('an address names both requests and their images, whatever else stands in it', () => {
  const both = { a: { requestId: 'one', index: 0 }, b: { requestId: 'two', index: 3 } };
  expect(comparedSearch(both)).toBe('?a=one&b=two&imageB=4');
  expect(readCompared(new URLSearchParams(comparedSearch(both)))).toEqual(both);
  expect(readCompared(new URLSearchParams('a=one&b=two&imageA=0&imageB=-1'))).toEqual({
    a: { requestId: 'one', index: 0 },
    b: { requestId: 'two', index: 0 },
  });
  for (const half of ['', 'a=one', 'b=two', 'a=one&b=%20']) {
    expect(readCompared(new URLSearchParams(half))).toBeNull();
  }
  const picture = { requestId: 'one', index: 2 };
  expect(readAsReference(new URLSearchParams(asReferenceSearch(picture)))).toEqual(picture);
  expect(readAsReference(new URLSearchParams('image=2'))).toBeNull();
});

const identity = (id: string, change: Partial<IdentityAnswer> = {}): IdentityAnswer => ({
  id,
  name: id,
  slug: id,
  description: '',
  productPhotos: true,
  available: true,
  samples: [],
  ...change,
});
const plain = identity('plain', { productPhotos: false });
const asleep = identity('asleep', { available: false });
const [first, second] = [identity('first'), identity('second')];

test('a reference goes to its own identity, else to the one in the form, else to one that takes it', () => {
  const all = [plain, asleep, first, second];
  expect(chooseForReference(all, second, 'first')).toEqual({ identityId: 'second', others: [], note: null });
  expect(chooseForReference(all, plain, 'first')).toMatchObject({ identityId: 'first', others: [] });
  expect(chooseForReference(all, asleep, 'plain')).toEqual({
    identityId: 'first',
    others: [second],
    note: 'asleep has no active model right now. first, which takes reference images, is chosen instead.',
  });
  const gone = { id: 'gone', name: 'gone' };
  expect(chooseForReference(all, gone, 'asleep')).toMatchObject({ identityId: 'first', others: [second] });
  expect(chooseForReference([plain, second], plain, '')).toMatchObject({ identityId: 'second', others: [] });
  expect(chooseForReference([plain], plain, 'plain')).toEqual({
    problem: 'None of your license’s identities takes reference images.',
  });
  expect(chooseForReference([plain, asleep], plain, 'plain')).toEqual({
    problem: expect.stringContaining('asleep takes reference images, but has no active model'),
  });
});
