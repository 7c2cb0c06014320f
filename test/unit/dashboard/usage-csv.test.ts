import { expect, test } from '@jest/globals';
import { usageCsv } from '../../../dashboard/src/screens/overview/usage-csv.ts';

const none = { requests: 0, credits: 0 };

test('each table of a period’s sums ends with the period’s own, and what is in none of its rows has one', () => {
  const usage = {
    licenseId: 'lic_1',
    stats: {
      current: 25,
      limit: 500,
      billingPeriodStart: '2026-11-01T00:00:00.000Z',
      billingPeriodEnd: '2026-12-01T00:00:00.000Z',
    },
    aggregates: {
      byType: {
        text_to_image: { requests: 4, credits: 12 },
        reference: { requests: 1, credits: 3 },
        exact_product: none,
      },
      // Ten were used elsewhere, and one request was made before keys were counted.
      byKey: { key_1: { name: 'CI, "new"', requests: 4, credits: 13 } },
      byIdentity: { aurora: { name: 'Aurora', slug: 'aurora', requests: 5, credits: 15 } },
      byDay: [
        { date: '2026-11-01', requests: 5, credits: 15 },
        { date: '2026-11-02', ...none },
      ],
    },
  };
  expect(
    usageCsv(usage as any)
      .slice(1)
      .split('\r\n'),
  ).toEqual([
    'period start,period end,credits,limit',
    '2026-11-01T00:00:00.000Z,2026-12-01T00:00:00.000Z,25,500',
    '',
    'key id,key,requests,credits',
    'key_1,"CI, ""new""",4,13',
    'others,,1,12',
    'all,,5,25',
    '',
    'identity id,identity,requests,credits',
    'aurora,Aurora,5,15',
    'others,,0,10',
    'all,,5,25',
    '',
    'day (UTC),requests,credits',
    '2026-11-01,5,15',
    '2026-11-02,0,0',
    'others,0,10',
    'all,5,25',
    '',
  ]);
});
