import * as z from 'zod/mini';
import { isLine } from '../base/fields.ts';

/** The names of `domain/tiers.ts` again, because infrastructure imports this file alone. A test compares the two. */
const tierNames = ['starter', 'standard', 'pro', 'enterprise'] as const;

const tierRule = `tier must be one of ${tierNames.join(', ')}`;
const creditsRule = 'creditsPerMonth must be an integer from 0 to 1000000000';
const catalogRule = 'foundingCatalog must be true or false';
const nameRule = 'name must be 1 to 64 characters on one line';
const idsRule = 'identityIds must be an array of identity ids';
const entryRule =
  'must be an object with tier, creditsPerMonth, foundingCatalog or identityIds, perhaps a name, and nothing else';
const mapRule = 'must be a JSON object with an entry for each price';
const keyRule = 'must be the id of a price, as in price_1A2b';

const priceGrant = z
  .strictObject(
    {
      tier: z.optional(z.enum(tierNames, tierRule)),
      creditsPerMonth: z.optional(
        z.int(creditsRule).check(z.gte(0, creditsRule), z.lte(1_000_000_000, creditsRule)),
      ),
      foundingCatalog: z.optional(z.boolean(catalogRule)),
      identityIds: z.optional(
        z.array(z.string(idsRule).check(z.regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, idsRule)), idsRule),
      ),
      name: z.optional(z.string(nameRule).check(z.refine((name) => isLine(name, 64), nameRule))),
    },
    entryRule,
  )
  .check(
    z.refine((grant) => Object.keys(grant).some((member) => member !== 'name'), entryRule),
    z.refine(
      ({ tier, creditsPerMonth }) => tier !== 'enterprise' || creditsPerMonth !== undefined,
      'creditsPerMonth must be given: enterprise has no number of its own',
    ),
  );

/** What each of Stripe's prices grants, by the price's id. */
export const billingPrices = z.record(
  z.string().check(z.regex(/^(price|plan)_[A-Za-z0-9]{1,200}$/)),
  priceGrant,
  { error: ({ code }) => (code === 'invalid_key' ? keyRule : mapRule) },
);

/**
 * What one unit of a price grants each month. Without a tier it is an addition to a plan, and `creditsPerMonth` defaults
 * to 0. With a tier, `creditsPerMonth` defaults to the tier's. `name` is what its owner calls the plan.
 */
export type PriceGrant = z.infer<typeof priceGrant>;
export type BillingPrices = Readonly<Record<string, PriceGrant>>;

/** @throws one sentence that names every wrong entry. */
export function parseBillingPrices(value: unknown): BillingPrices {
  const parsed = billingPrices.safeParse(value);
  if (parsed.success) return parsed.data;
  const wrong = new Map<string, string>();
  for (const { path, message } of parsed.error.issues) {
    const name = path.length === 0 ? 'it' : JSON.stringify(path[0]);
    if (!wrong.has(name)) wrong.set(name, `${name} ${message}`);
  }
  throw new Error(`The billing prices are wrong: ${[...wrong.values()].join('; ')}.`);
}
