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

/** The names of what differs between a request and another one, each with its image that is shown. */
function differences(change: Partial<StoredGeneration>, indexB = 0): string[] {
  const other = { generation: { ...generation, ...change }, index: indexB };
  const rows = compareRequests({ generation, index: 0 }, other);
  return rows.flatMap(({ name, isDifferent }) => (isDifferent ? [name] : []));
}

test.each<[Partial<StoredGeneration>, string[]]>([
  // What distinguishes one request from another is no parameter.
  [{ id: 'other', createdAt: '2026-01-01T00:00:00.000Z', processingTimeMs: 9 }, []],
  [{ prompt: 'a calm Night', negativePrompt: 'fog' }, ['Prompt', 'Negative prompt']],
  [{ identity: { ...generation.identity, id: 'idn_2' }, height: 1024 }, ['Identity', 'Size']],
  [{ identityVersion: 2, effectivePrompt: 'a calm night, qx7' }, ['What the model got', 'Identity version']],
  [{ type: 'reference', referenceImagesUsed: 1 }, ['Type', 'Reference images used']],
  [{ steps: 31, cfgScale: 7 }, ['Steps', 'Guidance scale']],
  [{ numOutputs: 1, outputFormat: 'webp' }, ['Outputs', 'Format']],
  [{ preserveBranding: true, modelVersion: null }, ['Preserve branding', 'Model version']],
  [{ creditsCharged: 0 }, ['Credits charged']],
])('of a request with %j another one differs in %j', (change, names) =>
  expect(differences(change)).toEqual(names),
);

test('the seed that is compared is that of the image that is shown', () => {
  expect(differences({}, 1)).toEqual(['Seed']);
  expect(differences({ seed: generation.seed - 1 }, 1)).toEqual([]);
});

test('an address names both requests and their images, whatever else stands in it', () => {
  const both = { a: { requestId: 'one', index: 0 }, b: { requestId: 'two', index: 3 } };
  const readBoth = (search: string) => readCompared(new URLSearchParams(search));
  expect(readBoth(comparedSearch(both))).toEqual(both);
  expect(readBoth('a=one&b=two&imageA=0&imageB=-1')).toMatchObject({ a: { index: 0 }, b: { index: 0 } });
  for (const half of ['a=one', 'b=two', 'a=one&b=%20']) expect(readBoth(half)).toBeNull();
  const picture = { requestId: 'one', index: 2 };
  expect(readAsReference(new URLSearchParams(asReferenceSearch(picture)))).toEqual(picture);
  expect(readAsReference(new URLSearchParams('image=2'))).toBeNull();
});

const identity = (id: string, change: Partial<IdentityAnswer> = {}) =>
  ({ id, name: id, productPhotos: true, available: true, ...change }) as IdentityAnswer;
const plain = identity('plain', { productPhotos: false });
const absent = identity('absent', { available: false });
const [first, second] = [identity('first'), identity('second')];

test('a reference goes to its own identity, else to the one in the form, else to one that takes it', () => {
  const all = [plain, absent, first, second];
  expect(chooseForReference(all, second, 'first')).toEqual({ identityId: 'second', others: [], note: null });
  expect(chooseForReference(all, plain, 'first')).toMatchObject({ identityId: 'first', others: [] });
  expect(chooseForReference(all, absent, 'plain')).toEqual({
    identityId: 'first',
    others: [second],
    note: 'absent has no active model right now. first, which takes reference images, is chosen instead.',
  });
  const gone = { id: 'gone', name: 'gone' };
  expect(chooseForReference(all, gone, 'absent')).toMatchObject({ identityId: 'first', others: [second] });
  expect(chooseForReference([plain, second], plain, '')).toMatchObject({ identityId: 'second', others: [] });
  expect(chooseForReference([plain], plain, 'plain')).toEqual({
    problem: 'None of your license’s identities takes reference images.',
  });
  expect(chooseForReference([plain, absent], plain, 'plain')).toEqual({
    problem: expect.stringContaining('absent takes reference images, but has no active model'),
  });
});
