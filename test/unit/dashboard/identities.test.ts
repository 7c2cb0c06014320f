import { expect, test } from '@jest/globals';
import type { LicenseAnswer } from '../../../dashboard/src/lib/types.ts';
import { hasWords, licensesWith } from '../../../dashboard/src/screens/identities/included.ts';

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

test('an identity is found by words of its name, its slug and its description together', () => {
  const identity = { name: 'Aurora', slug: 'northern-lights', description: 'Soft color fields' };
  expect(['fields LIGHTS aurora', 'aurora stone'].map((search) => hasWords(identity, search))).toEqual([
    true,
    false,
  ]);
});
