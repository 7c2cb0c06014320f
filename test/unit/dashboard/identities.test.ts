import { expect, test } from '@jest/globals';
import type { IdentityAnswer, LicenseAnswer } from '../../../dashboard/src/lib/types.ts';
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
  expect([namesWith('drift'), namesWith('aurora')]).toEqual([['specialist'], ['plan']]);
  // What only a license lists that can't be used now did not come by it.
  expect(namesWith('drift', licenses.slice(0, 2))).toEqual(['plan']);
});

test('an identity is found by words of its name, its slug, its description and its trigger words together', () => {
  const facts = { name: 'Aurora', slug: 'northern-lights', description: 'Soft color fields' };
  const identity = { ...facts, triggerWords: ['qx7 glow'] };
  expect(['fields LIGHTS aurora QX7', 'aurora stone'].map((search) => hasWords(identity, search))).toEqual([
    true,
    false,
  ]);
});

test('a sample is described by its prompt, and without one by its number', () => {
  const samples = [{ prompt: null }, { prompt: 'A lake' }] as IdentityAnswer['samples'];
  expect([0, 1].map((at) => sampleText({ name: 'aurora', samples }, at))).toEqual([
    'Sample 1 of aurora',
    'A lake',
  ]);
});

test('an address of the playground holds any prompt, and the version unless it is the active one', () => {
  const { searchParams } = new URL(
    playgroundAddress('idn_1', { prompt: 'a & b = "c" #1' }),
    'https://a.test',
  );
  expect(Object.fromEntries(searchParams)).toEqual({ identity: 'idn_1', prompt: 'a & b = "c" #1' });
  const address = playgroundAddress('idn_1', { version: 2, compare: 1 });
  expect(address).toBe('/playground?identity=idn_1&version=2&compare=1');
});
