import { describe, expect, test } from '@jest/globals';
import { changedIdentity, identityLosses, newIdentity } from '../../../bin/admin/identity-change.ts';
import type { IdentityOptions } from '../../../bin/admin/identity-change.ts';
import { changeOf, creditsFor, creditsNote, licenseLosses } from '../../../bin/admin/license-change.ts';
import { plainIdentity, type Identity } from '../../../shared/identities/identity.ts';
import { noRights, noWords, plainVersion } from '../../../shared/identities/version.ts';
import type { License } from '../../../shared/licenses/license.ts';
import { sampleLicense } from '../../support/unit-samples.ts';

const nowMs = Date.UTC(2026, 10, 21);
const dayMs = 24 * 3600 * 1000;

const license: License = {
  ...sampleLicense,
  tier: 'standard',
  creditsLimit: 1500,
  maxInFlight: null,
  foundingCatalog: true,
  identityIds: ['a', 'b'],
};

describe('a change of a license', () => {
  test.each([
    ['a lower tier', { tier: 'starter' }, 'its tier goes down from Standard to Starter'],
    ['fewer credits', { creditsLimit: 1499 }, 'its credits go down from 1500 to 1499 a month'],
    ['no founding catalog', { foundingCatalog: false }, 'it loses the founding catalog'],
    ['fewer identities', { identityIds: ['b', 'c'] }, 'it loses the identities a'],
    ['a suspension', { status: 'past_due' }, 'it is suspended'],
    ['fewer requests at a time', { maxInFlight: 19 }, 'it may have 19 requests in flight, not 20'],
    ['no API access', { apiAccess: false }, 'it loses API access'],
    ['an end right now', { activeUntilMs: nowMs }, 'it was active until 2026-11-21 00:00:00 UTC'],
  ] as const)('%s takes access away', (_, change, loss) => {
    const losses = licenseLosses(license, { ...change } as Partial<License>, nowMs);
    expect(losses).toEqual([expect.stringContaining(loss)]);
  });

  test.each([
    ['a higher tier', { tier: 'enterprise' }],
    ['more identities', { identityIds: ['c', 'b', 'a'] }],
    ['more requests at a time', { maxInFlight: 21 }],
    ['an end to come', { activeUntilMs: nowMs + dayMs }],
    ['another anchor', { periodAnchorMs: nowMs - dayMs }],
    ['what it is already', { foundingCatalog: true, apiAccess: true, status: 'active' }],
  ] as const)('%s takes nothing away', (_, change) => {
    expect(licenseLosses(license, { ...change } as Partial<License>, nowMs)).toEqual([]);
  });

  test('what was lost before is not lost again', () => {
    const lost = { status: 'past_due', apiAccess: false, activeUntilMs: nowMs - dayMs } as const;
    const change = { status: 'past_due', apiAccess: false, activeUntilMs: nowMs - 2 * dayMs } as const;
    expect(licenseLosses({ ...license, ...lost }, change, nowMs)).toEqual([]);
  });

  test('only the members that were named are written', () => {
    expect(changeOf({ credits: 0 })).toEqual({ creditsLimit: 0 });
    const none = { activeUntil: 'never', identity: false, maxInFlight: false, name: false } as const;
    const stored = { activeUntilMs: null, identityIds: [], maxInFlight: null, givenName: null };
    expect(changeOf(none)).toEqual(stored);
  });

  test('a tier that is changed alone leaves the credits, and says so', () => {
    const after: License = { ...license, tier: 'pro' };
    const note = 'The credits stay 1500 a month; Pro usually has 4000';
    expect(creditsNote({ tier: 'pro' }, after)).toContain(note);
    expect(creditsNote({ tier: 'pro', creditsLimit: 1500 }, after)).toBe('');
    expect(creditsNote({ tier: 'enterprise' }, { ...license, tier: 'enterprise' })).toBe('');
  });
});

test('a tier has its own credits, except where they are agreed one by one', () => {
  expect(creditsFor('starter', undefined)).toBe(500);
  expect(creditsFor('starter', 7)).toBe(7);
  expect(creditsFor('enterprise', 0)).toBe(0);
  expect(() => creditsFor('enterprise', undefined)).toThrow('give --credits');
});

describe('a put identity', () => {
  const given = { name: 'Aurora', slug: 'aurora', description: 'Light.', catalog: 'founding' } as const;
  const aurora: Identity = { ...plainIdentity, ...given, identityId: 'idn_1', productPhotos: true };
  const model = { ...plainVersion, number: 3, adapterKey: 'adapters/a', adapterSha256: 'f0' };
  const before: Identity = { ...aurora, model, lastVersion: 5 };
  const put = (options: Partial<IdentityOptions>, of = before) =>
    changedIdentity(of, { model: true, ...options }, nowMs);
  const made = (options: Partial<IdentityOptions>) =>
    newIdentity({ ...given, model: true, ...options }, nowMs);

  test('is new without a version where none is wanted, under the id that is given', () => {
    const { identity, versions } = made({ id: 'own-id', model: false });
    expect([identity.identityId, identity.model, versions]).toEqual(['own-id', null, undefined]);
  });

  test('is new with a first version', () => {
    const { identity, versions } = made({ note: 'First.' });
    const first = { ...plainVersion, createdAtMs: nowMs, note: 'First.' };
    expect(identity).toMatchObject({ model: first, lastVersion: 1 });
    expect(versions).toEqual([{ ...first, samples: [], retiresAtMs: null, rights: noRights }]);
  });

  test('keeps what is not given, and its version where no picture would change', () => {
    expect(put({ name: 'New' })).toEqual({ identity: { ...before, name: 'New' } });
    expect(put({ name: 'New' }, aurora).identity.model).toBeNull();
  });

  test('shows no picture of another version, and its first version has those that were there before', () => {
    const samples = [{ sampleId: 's1', widthPx: 8, heightPx: 8, prompt: null }];
    const next = put({ note: 'Next.' }, { ...before, samples });
    expect([next.identity.samples, next.versions![0]!.samples]).toEqual([[], []]);
    const first = put({ note: 'First.' }, { ...aurora, samples });
    expect([first.identity.samples, first.versions![0]!.samples]).toEqual([samples, samples]);
  });

  test('keeps its former slugs, but for the one that it has again', () => {
    const renamed = put({ slug: 'dawn' }).identity;
    expect([renamed.slug, renamed.formerSlugs]).toEqual(['dawn', ['aurora']]);
    const back = put({ slug: 'aurora' }, renamed).identity;
    expect([back.slug, back.formerSlugs]).toEqual(['aurora', ['dawn']]);
  });

  test.each<[string, Partial<IdentityOptions>, object]>([
    ['a note', { note: 'Better.' }, { note: 'Better.' }],
    [
      'another adapter, whose digest is not known',
      { adapterKey: 'b' },
      { adapterKey: 'b', adapterSha256: null },
    ],
    ['no adapter', { adapterKey: false }, { adapterKey: null, adapterSha256: null }],
    ['a digest', { adapterSha256: 'e1' }, { adapterSha256: 'e1' }],
    ['both', { adapterKey: 'b', adapterSha256: 'e1' }, { adapterKey: 'b', adapterSha256: 'e1' }],
    ['settings', { settings: { adapterScale: 1 } }, { settings: { adapterScale: 1 } }],
    [
      'words',
      { trigger: ['qx7'], template: '{prompt}, qx7' },
      { words: { ...noWords, triggerWords: ['qx7'], promptTemplate: '{prompt}, qx7' } },
    ],
  ])('has the version that it had as another one, but for %s', (_, options, changes) => {
    const { identity, versions } = put(options);
    const next = { ...model, number: 6, createdAtMs: nowMs, ...changes };
    expect(identity).toMatchObject({ model: next, lastVersion: 6 });
    expect(versions).toMatchObject([next]);
  });

  test.each<[string, () => unknown, string]>([
    [
      'what a new one needs',
      () => newIdentity({ name: 'A', slug: 'a', model: true }, nowMs),
      'needs --description, --catalog.',
    ],
    [
      'that there is none to change',
      () => made({ slug: undefined!, id: 'x' }),
      'There is no identity x, and a new one needs --slug.',
    ],
    [
      'a digest without its adapter',
      () => put({ adapterKey: false, adapterSha256: 'e1' }),
      'give --adapter-key too',
    ],
    ['a new digest without an adapter', () => made({ adapterSha256: 'e1' }), 'give --adapter-key too'],
    ['a template without its place', () => put({ template: 'in qx7' }), 'must contain {prompt} once'],
    [
      'that rights alone make no version',
      () => put({ rights: 'MIT' }),
      'say it with "identity rights aurora 3"',
    ],
    [
      'that nothing is active to make a version of',
      () => put({ size: { width: 512, height: 512 } }, { ...before, model: null }),
      'activate one first',
    ],
    ['half of a consent', () => made({ consentDate: '2026-11-01' }), 'give both'],
    [
      'that nobody has consented yet',
      () => made({ consentSha256: 'f0', consentDate: '2026-11-23' }),
      'must not be after today',
    ],
  ])('is refused by saying %s', (_, make, sentence) => {
    expect(make).toThrow(sentence);
  });

  test.each<[string, Identity, Partial<Identity>, string[]]>([
    ['its model', before, { model: null }, ['503']],
    ['its place in the founding catalog', before, { catalog: 'specialist' }, ['core plans lose Aurora']],
    ['its product photos', before, { productPhotos: false }, ['reference images']],
    ['nothing', before, { name: 'New', model: { ...model, number: 4 } }, []],
    ['nothing by what it gets', aurora, { model }, []],
    ['nothing that it had not', { ...aurora, productPhotos: false }, { name: 'New' }, []],
  ])('takes access away with %s', (_, had, changes, losses) => {
    const found = identityLosses(had, { ...had, ...changes });
    expect(found).toEqual(losses.map((loss) => expect.stringContaining(loss)));
  });
});
