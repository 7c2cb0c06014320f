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

  test.each([
    ['numOutputs', maxOutputs + 1],
    ['width', maxSidePx + 64],
    ['height', maxSidePx + 64],
  ])('refuses %s %i with TIER_LIMIT, naming it and the tier', (field, value) => {
    const error = refusalOf(() => checkTier({ ...sampleBody, [field]: value }, tier));
    const most = field === 'numOutputs' ? maxOutputs : maxSidePx;
    const message = `On the ${label} tier ${field} must be at most ${most}.`;
    expect(error).toMatchObject({ code: 'TIER_LIMIT', message });
  });

  test('names every parameter above it in one message', () => {
    const body = { ...sampleBody, numOutputs: maxOutputs + 1, width: maxSidePx + 64, height: maxSidePx + 64 };
    const { message } = refusalOf(() => checkTier(body, tier));
    expect(message).toBe(
      `On the ${label} tier numOutputs must be at most ${maxOutputs} and width must be at most ${maxSidePx} and height must be at most ${maxSidePx}.`,
    );
  });
});
