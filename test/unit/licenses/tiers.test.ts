import { describe, expect, test } from '@jest/globals';
import { checkTier } from '../../../shared/generations/generation.ts';
import { tiers, type TierName } from '../../../shared/licenses/tiers.ts';
import { refusalOf, sampleBody } from '../../support/unit-samples.ts';

/** The table of section 8.1, which holds against the text of the request fields. */
const table: [TierName, string, number | null, number, number][] = [
  ['starter', 'Starter', 500, 1, 1024],
  ['standard', 'Standard', 1500, 4, 2048],
  ['pro', 'Pro', 4000, 4, 2048],
  ['enterprise', 'Enterprise', null, 4, 2048],
];

test('the tiers are those of the table in section 8.1, and no others', () => {
  const rows = Object.entries(tiers).map(([name, { label, creditsPerMonth, maxOutputs, maxSidePx }]) => [
    name,
    label,
    creditsPerMonth,
    maxOutputs,
    maxSidePx,
  ]);
  expect(rows).toEqual(table);
});

describe.each(table)('the %s tier', (tier, label, _credits, maxOutputs, maxSidePx) => {
  test(`allows ${maxOutputs} outputs of ${maxSidePx} × ${maxSidePx}`, () => {
    const body = { ...sampleBody, numOutputs: maxOutputs, width: maxSidePx, height: maxSidePx };
    expect(() => checkTier(body, tier)).not.toThrow();
  });

  test('refuses what is above that with TIER_LIMIT, naming each parameter and the tier', () => {
    const above = { numOutputs: maxOutputs + 1, width: maxSidePx + 64, height: maxSidePx + 64 };
    const rules = [`numOutputs must be at most ${maxOutputs}`];
    for (const side of ['width', 'height']) rules.push(`${side} must be at most ${maxSidePx}`);
    const refused = (changes: object, wrong: string[]) => {
      const error = refusalOf(() => checkTier({ ...sampleBody, ...changes }, tier));
      const message = `On the ${label} tier ${wrong.join(' and ')}.`;
      expect(error).toMatchObject({ code: 'TIER_LIMIT', message });
    };
    Object.entries(above).forEach(([field, value], i) => refused({ [field]: value }, [rules[i]!]));
    refused(above, rules);
  });
});
