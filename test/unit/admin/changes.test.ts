import { describe, expect, test } from '@jest/globals';
import { changedIdentity, identityLosses, newIdentity } from '../../../bin/admin/identity-change.ts';
import type { IdentityOptions } from '../../../bin/admin/identity-change.ts';
import { changeOf, creditsFor, creditsNote, licenseLosses } from '../../../bin/admin/license-change.ts';
import type { Identity } from '../../../shared/identities/identity.ts';
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
  const aurora: Identity = { ...given, identityId: 'idn_1', productPhotos: true, samples: [], model: null };
  const model = { version: '3', adapterKey: 'adapters/a', adapterSha256: 'f0', settings: { strength: 1 } };
  const before = { ...aurora, model };
  const put = (options: Partial<IdentityOptions>) => changedIdentity(before, { model: true, ...options });

  test('is new without a model where none is wanted, under the id that is given', () => {
    const own = newIdentity({ ...given, id: 'own-id', model: false });
    expect([own.identityId, own.model]).toEqual(['own-id', null]);
  });

  test('keeps what is not given', () => {
    expect(put({ name: 'New' })).toEqual({ ...before, name: 'New' });
    expect(changedIdentity(aurora, { name: 'New', model: true }).model).toBeNull();
  });

  test.each<[string, Partial<IdentityOptions>, Partial<Identity['model'] & object>]>([
    ['another version', { modelVersion: '4' }, { version: '4' }],
    [
      'another adapter, whose digest is not known',
      { adapterKey: 'b' },
      { adapterKey: 'b', adapterSha256: null },
    ],
    ['no adapter', { adapterKey: false }, { adapterKey: null, adapterSha256: null }],
    ['a digest', { adapterSha256: 'e1' }, { adapterSha256: 'e1' }],
    ['both', { adapterKey: 'b', adapterSha256: 'e1' }, { adapterKey: 'b', adapterSha256: 'e1' }],
  ])('has the model that it had, but for %s', (_, options, changes) => {
    expect(put(options).model).toEqual({ ...model, ...changes });
  });

  test.each<[string, () => Identity, string]>([
    [
      'what a new one needs',
      () => newIdentity({ name: 'A', slug: 'a', model: true }),
      'needs --description, --catalog.',
    ],
    [
      'that there is none to change',
      () => newIdentity({ ...given, slug: undefined!, id: 'x', model: true }),
      'There is no identity x, and a new one needs --slug.',
    ],
    [
      'a digest without its adapter',
      () => put({ adapterKey: false, adapterSha256: 'e1' }),
      'give --adapter-key too',
    ],
    [
      'a new digest without an adapter',
      () => newIdentity({ ...given, adapterSha256: 'e1', model: true }),
      'give --adapter-key too',
    ],
    [
      'a part of a model for one that has none',
      () => changedIdentity(aurora, { settings: {}, model: true }),
      'give --model-version too',
    ],
  ])('is refused by saying %s', (_, make, sentence) => {
    expect(make).toThrow(sentence);
  });

  test('gets a model back by its version', () => {
    const second = { version: '2', adapterKey: null, adapterSha256: null, settings: {} };
    expect(changedIdentity(aurora, { modelVersion: '2', model: true }).model).toEqual(second);
  });

  test.each<[string, Identity, Partial<Identity>, string[]]>([
    ['its model', before, { model: null }, ['503']],
    ['its place in the founding catalog', before, { catalog: 'specialist' }, ['core plans lose Aurora']],
    ['its product photos', before, { productPhotos: false }, ['reference images']],
    ['nothing', before, { name: 'New', model: { ...model, version: '4' } }, []],
    ['nothing by what it gets', aurora, { model }, []],
    ['nothing that it had not', { ...aurora, productPhotos: false }, { name: 'New' }, []],
  ])('takes access away with %s', (_, had, changes, losses) => {
    const found = identityLosses(had, { ...had, ...changes });
    expect(found).toEqual(losses.map((loss) => expect.stringContaining(loss)));
  });
});
