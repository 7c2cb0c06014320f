import { describe, expect, test } from '@jest/globals';
import { isActive, mayUse, type License } from '../../../shared/domain/license.ts';
import { sampleIdentity, sampleLicense } from '../../support/unit-samples.ts';

const nowMs = Date.UTC(2026, 0, 1);

describe('the keys of an access record are accepted', () => {
  const ends = [
    { activeUntilMs: null, end: 'no end', before: true },
    { activeUntilMs: nowMs + 1, end: 'an end a millisecond away', before: true },
    { activeUntilMs: nowMs, end: 'an end right now', before: false },
    { activeUntilMs: nowMs - 1, end: 'an end a millisecond ago', before: false },
    { activeUntilMs: 0, end: 'an end in 1970', before: false },
  ];
  const statuses: License['status'][] = ['active', 'past_due', 'ended'];
  const rows = statuses.flatMap((status) =>
    [true, false].flatMap((apiAccess) =>
      ends.map(({ activeUntilMs, end, before }) => {
        const accepted = status === 'active' && apiAccess && before;
        return { status, apiAccess, activeUntilMs, end, accepted };
      }),
    ),
  );

  test.each(rows)(
    '$status, apiAccess $apiAccess, $end: $accepted',
    ({ accepted, status, apiAccess, activeUntilMs }) => {
      expect(isActive({ ...sampleLicense, status, apiAccess, activeUntilMs }, nowMs)).toBe(accepted);
    },
  );

  test('exactly two of all these cases are: active, with API access, and before the end', () => {
    expect(rows.filter(({ accepted }) => accepted)).toHaveLength(2);
    expect(rows).toHaveLength(30);
  });
});

describe('a record may use an identity', () => {
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
