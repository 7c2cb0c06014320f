import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { licenseStatuses } from '../../../shared/licenses/contract.ts';
import {
  isActive,
  licenseAnswer,
  licenseMembers,
  maxInFlight,
  whyInactive,
  type License,
} from '../../../shared/licenses/license.ts';
import { mayUse } from '../../../shared/identities/identity.ts';
import { tiers, type TierName } from '../../../shared/licenses/tiers.ts';
import { anyInstantMs, sampleIdentity, sampleLicense } from '../../support/unit-samples.ts';

const nowMs = Date.UTC(2026, 4, 10, 12);

const anyLicense: fc.Arbitrary<License> = fc
  .record({
    ownerId: fc.uuid(),
    tier: fc.constantFrom(...(Object.keys(tiers) as TierName[])),
    apiAccess: fc.boolean(),
    status: fc.constantFrom(...licenseStatuses),
    graceUntilMs: fc.option(anyInstantMs),
    periodAnchorMs: anyInstantMs,
    activeUntilMs: fc.option(anyInstantMs),
    createdAtMs: anyInstantMs,
  })
  .map((members) => ({ ...sampleLicense, ...members }));

test('a license has as many requests in flight as its tier, or its own number', () => {
  const ofTiers = Object.keys(tiers).map((tier) =>
    maxInFlight({ tier: tier as TierName, maxInFlight: null }),
  );
  expect(ofTiers).toEqual([10, 20, 40, 100]);
  expect(maxInFlight({ tier: 'pro', maxInFlight: 3 })).toBe(3);
});

describe('why a license is inactive', () => {
  test.each([
    [{ activeUntilMs: nowMs + 1 }, null],
    [{ activeUntilMs: nowMs }, 'it was active until 2026-05-10T12:00:00.000Z'],
    [{ status: 'ended' }, 'it has ended'],
    [{ status: 'past_due' }, 'it is past due'],
    [
      { status: 'past_due', graceUntilMs: nowMs },
      'it is past due, and was usable until 2026-05-10T12:00:00.000Z',
    ],
    [{ status: 'past_due', graceUntilMs: nowMs + 1, apiAccess: false }, 'it has no API access'],
    [{ status: 'ended', apiAccess: false, activeUntilMs: 0 }, 'it has ended'],
    [{ apiAccess: false, activeUntilMs: 0 }, 'it has no API access'],
  ] as [Partial<License>, string | null][])('%j: %s', (change, reason) => {
    expect(whyInactive({ ...sampleLicense, ...change }, nowMs)).toBe(reason);
  });

  test('is given exactly for those that are not active', () => {
    fc.assert(
      fc.property(anyLicense, anyInstantMs, (license, ms) => {
        const { status, graceUntilMs, apiAccess, activeUntilMs } = license;
        const isInGrace = status === 'past_due' && graceUntilMs !== null && ms < graceUntilMs;
        const active =
          (status === 'active' || isInGrace) && apiAccess && (activeUntilMs === null || ms < activeUntilMs);
        expect(whyInactive(license, ms) === null).toBe(active);
        expect(isActive(license, ms)).toBe(active);
        expect(licenseAnswer(license, 'Pro', ms).usable).toBe(active);
      }),
    );
  });
});

describe('a license as its owner sees it', () => {
  test('has exactly these members', () => {
    const license: License = {
      ...sampleLicense,
      tier: 'starter',
      creditsLimit: 500,
      foundingCatalog: false,
      identityIds: ['idn_7', 'idn_8'],
      periodAnchorMs: Date.UTC(2025, 11, 31, 6),
      activeUntilMs: Date.UTC(2027, 0, 1),
      createdAtMs: Date.UTC(2025, 11, 30),
    };
    expect(licenseAnswer(license, 'Research', nowMs)).toEqual({
      licenseId: 'lic_1',
      name: 'Research',
      tier: 'Starter',
      status: 'active',
      usable: true,
      apiAccess: true,
      foundingCatalog: false,
      identityIds: ['idn_7', 'idn_8'],
      creditsLimit: 500,
      maxOutputs: 1,
      maxSidePx: 1024,
      maxInFlight: 10,
      billingPeriodStart: '2026-04-30T06:00:00.000Z',
      billingPeriodEnd: '2026-05-31T06:00:00.000Z',
      activeUntil: '2027-01-01T00:00:00.000Z',
      createdAt: '2025-12-30T00:00:00.000Z',
    });
  });
});

describe('a license covers an identity', () => {
  test.each([
    { foundingCatalog: true, catalog: 'founding', listed: false, allowed: true },
    { foundingCatalog: true, catalog: 'founding', listed: true, allowed: true },
    { foundingCatalog: true, catalog: 'specialist', listed: false, allowed: false },
    { foundingCatalog: true, catalog: 'specialist', listed: true, allowed: true },
    { foundingCatalog: false, catalog: 'founding', listed: false, allowed: false },
    { foundingCatalog: false, catalog: 'founding', listed: true, allowed: true },
    { foundingCatalog: false, catalog: 'specialist', listed: false, allowed: false },
    { foundingCatalog: false, catalog: 'specialist', listed: true, allowed: true },
  ] as const)(
    'foundingCatalog $foundingCatalog, a $catalog identity, listed $listed: $allowed',
    ({ foundingCatalog, catalog, listed, allowed }) => {
      const identityIds = listed ? ['idn_other', 'idn_1'] : ['idn_other', 'idn_11', 'IDN_1'];
      const license = { ...sampleLicense, foundingCatalog, identityIds };
      expect(mayUse(license, { ...sampleIdentity, catalog })).toBe(allowed);
    },
  );
});

test('the audit log compares what may change, with a count that is carried on and without one', () => {
  const carried = { startMs: nowMs, endMs: nowMs + 1000, creditsLimit: 7 };
  const iso = (ms: number) => new Date(ms).toISOString();
  const of = { carriedFrom: iso(nowMs), carriedUntil: iso(nowMs + 1000), carriedCredits: 7 };
  expect(licenseMembers({ ...sampleLicense, carried })).toMatchObject({
    name: null,
    tier: sampleLicense.tier,
    ...of,
  });
  const none = { carriedFrom: null, carriedUntil: null, carriedCredits: null };
  expect(licenseMembers({ ...sampleLicense, carried: null })).toMatchObject(none);
});
