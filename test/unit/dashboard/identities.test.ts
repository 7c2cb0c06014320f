import { expect, test } from '@jest/globals';
import type { LicenseAnswer } from '../../../dashboard/src/lib/types.ts';
import {
  hasWords,
  licensesWith,
  playgroundAddress,
  sampleText,
} from '../../../dashboard/src/screens/identities/included.ts';

const license = (name: string, changes: Partial<LicenseAnswer> = {}): LicenseAnswer =>
  ({ name, usable: true, foundingCatalog: true, identityIds: [], ...changes }) as LicenseAnswer;

const licenses = [
  license('plan'),
  license('ended', { usable: false, identityIds: ['drift'] }),
  license('specialist', { foundingCatalog: false, identityIds: ['drift'] }),
];
const namesWith = (id: string, of = licenses) => licensesWith({ id }, of).map(({ name }) => name);

test('a specialist identity is in the licenses that list it, any other in those with the founding catalog', () => {
  expect(namesWith('drift')).toEqual(['specialist']);
  expect(namesWith('aurora')).toEqual(['plan']);
  // What only a license lists that can't be used now did not come by it.
  expect(namesWith('drift', licenses.slice(0, 2))).toEqual(['plan']);
  expect(namesWith('aurora', [])).toEqual([]);
});

test('an identity is found by words of its name, its slug and its description, in any order and case', () => {
  const identity = { name: 'Aurora', slug: 'northern-lights', description: 'Soft color fields, große ΟΔΟΣ' };
  const isFound = (search: string) => hasWords(identity, search);
  expect(['', ' ', 'aur', 'LIGHTS', 'fields  aurora ', 'color soft', 'GROSSE οδοσ'].every(isFound)).toBe(
    true,
  );
  expect(['aurora stone', 'softcolor', '*'].some(isFound)).toBe(false);
});

test('a sample is described by its prompt, and without one by its number if there are several', () => {
  const sample = (prompt: string | null) => ({ url: '', thumbnailUrl: '', width: 1, height: 1, prompt });
  const two = { name: 'aurora', samples: [sample(null), sample('A lake')] };
  expect([sampleText(two, 0), sampleText(two, 1)]).toEqual(['Sample 1 of aurora', 'A lake']);
  expect(sampleText({ name: 'aurora', samples: [sample(null)] }, 0)).toBe('Sample of aurora');
});

test('an address of the playground holds any prompt', () => {
  const query = new URL(playgroundAddress('idn_1', 'a & b = "c" #1'), 'https://a.test').searchParams;
  expect(Object.fromEntries(query)).toEqual({ identity: 'idn_1', prompt: 'a & b = "c" #1' });
  expect(playgroundAddress('idn_1')).toBe('/playground?identity=idn_1');
});
