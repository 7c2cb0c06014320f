import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { License } from '../../../shared/licenses/license.ts';
import { licenseNames } from '../../../shared/licenses/names.ts';
import { tiers, type TierName } from '../../../shared/licenses/tiers.ts';

type Named = Parameters<typeof licenseNames>[0][number];

const license = (changes: Partial<License> = {}, i = 0): Named => ({
  licenseId: `lic_${i}`,
  givenName: null,
  planName: null,
  tier: 'starter',
  ...changes,
});
const namesOf = (...all: Partial<License>[]) =>
  [...licenseNames(all.map((changes, i) => license(changes, i))).entries()].sort().map(([, name]) => name);

describe('the names of an account’s licenses', () => {
  test.each([
    ['without a name it is its tier', [{ tier: 'pro' }], ['Pro']],
    ['the paid plan’s name wins over the tier', [{ planName: 'Studio' }], ['Studio']],
    ['the operator’s name wins over the plan’s', [{ planName: 'Studio', givenName: 'Labs' }], ['Labs']],
    ['two of a tier are numbered by age', [{}, {}, {}], ['Starter', 'Starter 2', 'Starter 3']],
    [
      'a given name is not taken from a younger one',
      [{}, { givenName: 'Starter' }],
      ['Starter 2', 'Starter'],
    ],
    [
      'a number that is taken is left out',
      [{}, {}, { givenName: 'Starter 2' }],
      ['Starter', 'Starter 3', 'Starter 2'],
    ],
    ['other tiers do not count', [{}, { tier: 'pro' }, {}], ['Starter', 'Pro', 'Starter 2']],
  ] as [string, Partial<License>[], string[]][])('%s', (_, all, expected) => {
    expect(namesOf(...all)).toEqual(expected);
  });

  test('are shortened between code points to make room for a number', () => {
    const name = '🎨'.repeat(64);
    expect(namesOf({ givenName: name }, { givenName: name })).toEqual([name, `${'🎨'.repeat(62)} 2`]);
  });

  /** Few words, so that they meet; some look as if they were numbered. */
  const word = fc.oneof(
    fc.constantFrom('Starter', 'Starter 2', 'Pro', 'Labs', 'Labs 2', 'x'.repeat(64), `${'x'.repeat(62)} 2`),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 3 }),
  );
  const account = fc
    .array(
      fc.record({
        givenName: fc.option(word),
        planName: fc.option(word),
        tier: fc.constantFrom(...(Object.keys(tiers) as TierName[])),
      }),
      { maxLength: 12 },
    )
    .map((all) => all.map(license));

  test('are all there, unlike each other, and of 1 to 64 characters', () => {
    fc.assert(
      fc.property(account, (licenses) => {
        const names = licenseNames(licenses);
        expect([...names.keys()].sort()).toEqual(licenses.map(({ licenseId }) => licenseId).sort());
        expect(new Set(names.values()).size).toBe(licenses.length);
        for (const name of names.values()) {
          expect(Array.from(name).length).toBeGreaterThanOrEqual(1);
          expect(Array.from(name).length).toBeLessThanOrEqual(64);
        }
      }),
    );
  });

  test('do not change when a younger license comes, unless the operator gave it a name', () => {
    fc.assert(
      fc.property(account, account, (older, [youngest]) => {
        fc.pre(youngest !== undefined);
        const before = licenseNames(older);
        const after = licenseNames([...older, { ...youngest!, licenseId: 'lic_new', givenName: null }]);
        for (const [licenseId, name] of before) expect(after.get(licenseId)).toBe(name);
      }),
    );
  });
});
