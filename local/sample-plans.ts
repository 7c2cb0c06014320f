import type { Plan } from '../shared/billing/plans.ts';

const link = (id: string) => `https://example.com/buy/${id}`;
const plan = (id: string, more: Omit<Plan, 'id' | 'link' | 'currency'>): Plan => ({
  id,
  link: link(id),
  currency: 'EUR',
  ...more,
});

/** What the local dashboard sells. Nobody pays: the links lead to a domain that is kept for examples. */
export const samplePlans: Plan[] = [
  plan('starter', { name: 'Starter', tier: 'starter', credits: 500, price: 19 }),
  plan('standard', { name: 'Standard', tier: 'standard', credits: 1500, price: 49 }),
  plan('pro', { name: 'Studio', tier: 'pro', credits: 4000, price: 119 }),
  plan('pack-small', { name: 'Small pack', credits: 200, price: 9.9, once: true }),
  plan('pack-large', { name: 'Large pack', credits: 1000, price: 39, once: true }),
];
