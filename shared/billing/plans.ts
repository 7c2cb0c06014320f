import * as z from 'zod/mini';
import type { PlanCard } from '../accounts/dashboard-config.ts';
import { isLine } from '../base/fields.ts';
import { tiers, type TierName } from '../licenses/tiers.ts';

const most = 20;
/** Stripe copies it as `metadata.plan`. */
const idRule = 'must be 1 to 64 letters, digits, hyphens and underscores';
const creditsRule = 'must be a whole number from 1 to 1000000000';
const priceRule = 'must be an amount of the currency, as 49 or 49.90';
const currencyRule = 'must be the code of a currency, as EUR';
const linkRule = 'must be an https address without client_reference_id, which the dashboard adds';
const tierNames = Object.keys(tiers) as TierName[];
const currencies = new Set(Intl.supportedValuesOf('currency'));

const plan = z
  .strictObject({
    id: z.string(idRule).check(z.regex(/^[A-Za-z0-9_-]{1,64}$/, idRule)),
    name: z.string().check(z.refine((name) => isLine(name, 64), 'must be 1 to 64 characters on one line')),
    tier: z.optional(z.enum(tierNames, `must be one of ${tierNames.join(', ')}`)),
    credits: z.int(creditsRule).check(z.gte(1, creditsRule), z.lte(1_000_000_000, creditsRule)),
    price: z.number(priceRule).check(z.gte(0, priceRule), z.lte(1_000_000_000, priceRule)),
    currency: z.string(currencyRule).check(z.refine((code) => currencies.has(code), currencyRule)),
    link: z.string(linkRule).check(z.refine(isLink, linkRule)),
    once: z.optional(z.boolean()),
  })
  .check(
    z.refine(({ price, currency }) => !currencies.has(currency) || isAmount(price, currency), {
      path: ['price'],
      error: priceRule,
    }),
    z.refine(({ tier, once = false }) => tier !== undefined || once, {
      path: ['tier'],
      error: 'must be given, but for a pack ("once": true)',
    }),
  );

/** What the dashboard sells: subscriptions, and packs of credits (`once`). */
export const plans = z.array(plan).check(
  z.maxLength(most, `must be at most ${most} plans`),
  z.refine((all) => new Set(all.map(({ id }) => id)).size === all.length, 'must have different ids'),
);

export type Plan = z.infer<typeof plan>;

/** A plan as the dashboard shows it. */
export function planCard({ tier, once = false, ...shown }: Plan): PlanCard {
  if (tier === undefined) return { ...shown, once, tier: null };
  const { label, maxOutputs, maxSidePx, maxInFlight } = tiers[tier];
  return { ...shown, once, tier: { label, maxOutputs, maxSidePx, maxInFlight } };
}

/** The credits of each pack, by its id. */
export function packsIn(all: readonly Plan[]): Record<string, number> {
  return Object.fromEntries(all.flatMap(({ id, credits, once = false }) => (once ? [[id, credits]] : [])));
}

function isLink(text: string): boolean {
  const url = text.length <= 2000 ? URL.parse(text) : null;
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') return false;
  return !url.searchParams.has('client_reference_id');
}

/** Whether people can pay it: yen have no decimals, dinars have three. */
function isAmount(price: number, currency: string): boolean {
  const { maximumFractionDigits } = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
  }).resolvedOptions();
  return Number(price.toFixed(maximumFractionDigits)) === price;
}
