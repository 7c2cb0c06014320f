import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parseBillingPrices, type BillingPrices } from '../../../shared/billing/prices.ts';
import { tiers } from '../../../shared/licenses/tiers.ts';
import { grantOf } from '../../../shared/billing/subscription-license.ts';

describe('the map of prices', () => {
  test('takes every kind of entry', () => {
    const prices = {
      price_Pro1: { tier: 'pro', foundingCatalog: true, name: 'Stüdio 🎨' },
      price_big: { tier: 'enterprise', creditsPerMonth: 25_000, identityIds: ['idn_one', 'atelier-9'] },
      price_identity: { identityIds: ['idn_two'] },
      plan_old: { creditsPerMonth: 0 },
    };
    expect(parseBillingPrices(prices)).toEqual(prices);
    expect(parseBillingPrices({})).toEqual({});
  });

  test('in the documentation is one that is taken', () => {
    const text = readFileSync(new URL('../../../docs/billing.md', import.meta.url), 'utf8');
    const [, json] = /```json\n(.*?)```/s.exec(text)!;
    expect(Object.keys(parseBillingPrices(JSON.parse(json!)))).toContain('price_1Pro');
  });

  test.each(Object.entries(tiers))('takes the tier %s, whose credits are its own or named', (tier, of) => {
    expect(() => parseBillingPrices({ price_1: { tier, creditsPerMonth: 7 } })).not.toThrow();
    const alone = () => parseBillingPrices({ price_1: { tier } });
    if (of.creditsPerMonth === null) expect(alone).toThrow('"price_1" creditsPerMonth must be given');
    else expect(alone).not.toThrow();
  });

  test.each([null, []])('that is %j is refused in one sentence', (value) => {
    expect(() => parseBillingPrices(value)).toThrow(
      'The billing prices are wrong: it must be a JSON object with an entry for each price.',
    );
  });

  test('names every wrong entry by its first problem, and none that is right, in one sentence', () => {
    const entryRule =
      'must be an object with tier, creditsPerMonth, foundingCatalog or identityIds, perhaps a name, and nothing else';
    const creditsRule = 'creditsPerMonth must be an integer from 0 to 1000000000';
    const keyRule = 'must be the id of a price, as in price_1A2b';
    const tierRule = 'tier must be one of starter, standard, pro, enterprise';
    const catalogRule = 'foundingCatalog must be true or false';
    const idsRule = 'identityIds must be an array of identity ids';
    const ownRule = 'creditsPerMonth must be given: enterprise has no number of its own';
    const nameRule = 'name must be 1 to 64 characters on one line';
    const wrong: [name: string, entry: unknown, rule: string][] = [
      ['prod_1', { tier: 'pro' }, keyRule],
      ['xprice_1', { tier: 'pro' }, keyRule],
      ['price_a b', { tier: 'pro' }, keyRule],
      ['price_1', {}, entryRule],
      ['price_2', { tier: 'gold' }, tierRule],
      ['price_3', { tier: 'pro', credits: 5 }, entryRule],
      ['price_5', { creditsPerMonth: 1.5 }, creditsRule],
      ['price_6', { creditsPerMonth: -1 }, creditsRule],
      ['price_7', { creditsPerMonth: '5', foundingCatalog: 1 }, creditsRule],
      ['price_8', { foundingCatalog: 'yes' }, catalogRule],
      ['price_9', { identityIds: ['a b'] }, idsRule],
      ['price_10', { identityIds: 'idn_one' }, idsRule],
      ['price_11', { tier: 'enterprise' }, ownRule],
      ['price_13', { name: 'Pro' }, entryRule],
      ['price_14', { tier: 'pro', name: ' ' }, nameRule],
      ['price_16', { tier: 'pro', name: '🎨'.repeat(65) }, nameRule],
      ['price_12', { creditsPerMonth: 1_000_000_001 }, creditsRule],
    ];
    const prices = Object.fromEntries(wrong.map(([name, entry]) => [name, entry]));
    const sentences = wrong.map(([name, , rule]) => `"${name}" ${rule}`);
    expect(() => parseBillingPrices({ price_right: { tier: 'pro' }, ...prices })).toThrow(
      new Error(`The billing prices are wrong: ${sentences.join('; ')}.`),
    );
  });
});

describe('what a subscription’s items grant together', () => {
  const prices: BillingPrices = {
    price_starter: { tier: 'starter', foundingCatalog: true, name: 'Basic' },
    price_standard: { tier: 'standard' },
    price_pro: { tier: 'pro', name: 'Studio' },
    price_big: { tier: 'enterprise', creditsPerMonth: 25_000, identityIds: ['idn_b', 'idn_a'] },
    price_identity: { identityIds: ['idn_b', 'idn_c'], name: 'Atelier' },
    price_credits: { creditsPerMonth: 250 },
    price_none: { creditsPerMonth: 0 },
    price_few: { tier: 'pro', creditsPerMonth: 10 },
  };
  type Name = string | [string, number];
  const items = (...names: Name[]) =>
    names.map((name) => {
      const [kind, quantity] = typeof name === 'string' ? [name, 1] : name;
      return { priceId: `price_${kind}`, quantity };
    });
  const grant = (...names: Name[]) => grantOf(items(...names), prices);
  const none = { tier: 'starter', creditsLimit: 0, foundingCatalog: false, identityIds: [] };

  test.each([
    ['a core plan has its tier’s own credits', ['pro'], { tier: 'pro', creditsLimit: 4000 }],
    ['credits that a price names replace its tier’s', ['few'], { tier: 'pro', creditsLimit: 10 }],
    ['quantities multiply credits', [['standard', 3]], { tier: 'standard', creditsLimit: 4500 }],
    [
      'the highest tier counts, whatever its place, and credits add up',
      ['starter', 'pro', 'standard'],
      { tier: 'pro', creditsLimit: 6000, foundingCatalog: true },
    ],
    [
      'enterprise is above pro; identities are united, sorted and named once',
      ['big', 'identity', 'pro'],
      { tier: 'enterprise', creditsLimit: 29_000, identityIds: ['idn_a', 'idn_b', 'idn_c'] },
    ],
    [
      'a specialist price adds its identities to a plan, and no credits',
      ['starter', ['identity', 2]],
      { creditsLimit: 500, foundingCatalog: true, identityIds: ['idn_b', 'idn_c'] },
    ],
    [
      'a specialist price alone is a Starter, once',
      [['identity', 2]],
      { creditsLimit: 500, identityIds: ['idn_b', 'idn_c'] },
    ],
    [
      'a specialist price with credits beside it has these',
      ['identity', 'credits'],
      { creditsLimit: 250, identityIds: ['idn_b', 'idn_c'] },
    ],
    ['a price that names zero credits has none', ['none'], {}],
    ['an item with quantity 0 grants nothing', [['big', 0], 'few'], { tier: 'pro', creditsLimit: 10 }],
    ['no item grants nothing', [], {}],
  ] as [string, Name[], object][])('%s', (_, names, expected) => {
    const { planName } = grant(...names);
    expect(grant(...names)).toEqual({ ...none, ...expected, planName });
  });

  test.each([
    ['a core plan gives its name', ['pro'], 'Studio'],
    ['the highest tier gives it, whatever its place', ['starter', 'pro', 'identity'], 'Studio'],
    ['a plan without a name is not called like what is added to it', ['few', 'identity'], null],
    ['a lower plan does not lend its name to a higher one', ['starter', 'big'], null],
    ['of plans of the same tier the first that has a name gives it', ['few', 'pro'], 'Studio'],
    ['without a plan the first addition that has a name gives it', ['credits', 'identity'], 'Atelier'],
    ['no item gives none', [], null],
  ] as [string, Name[], string | null][])('name: %s', (_, names, expected) => {
    expect(grant(...names).planName).toBe(expected);
  });

  test.each([
    ['price_other', 1],
    ['price_other', 0],
    ['__proto__', 1],
  ])(
    'the price %s, which is not in the map, is a failure that names it, also %i times',
    (priceId, quantity) => {
      const message = `The billing prices have no entry for "${priceId}".`;
      const failure = expect.objectContaining({ reason: 'unknown_price', message });
      expect(() => grantOf([...items('pro'), { priceId, quantity }], prices)).toThrow(failure);
    },
  );
});
