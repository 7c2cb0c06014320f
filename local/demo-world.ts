import type { Identity } from '../shared/domain/identity.ts';
import type { License } from '../shared/domain/license.ts';

/** The world that a first start makes. Names are fixed; ids and keys are made then. */
export interface DemoIdentity extends Omit<Identity, 'identityId' | 'name' | 'slug' | 'model'> {
  /** Null for an identity without an active model; otherwise what the painter is told. */
  painter: Record<string, unknown> | null;
}

export const demoIdentities: Record<string, DemoIdentity> = {
  aurora: {
    description: 'Curtains of light over quiet northern land.',
    catalog: 'founding',
    productPhotos: false,
    painter: { style: 'aurora' },
  },
  basalt: {
    description: 'Dark stone, hard light and glowing veins.',
    catalog: 'founding',
    productPhotos: false,
    painter: { style: 'basalt' },
  },
  citrine: {
    description: 'Product photographs in a warm studio.',
    catalog: 'founding',
    productPhotos: true,
    painter: { style: 'citrine' },
  },
  drift: {
    description: 'Dunes and waves in cut-paper layers. Granted one by one.',
    catalog: 'specialist',
    productPhotos: false,
    painter: { style: 'drift' },
  },
  ember: {
    description: 'Has no active model: it shows what 503 IDENTITY_UNAVAILABLE looks like.',
    catalog: 'founding',
    productPhotos: false,
    painter: null,
  },
  flint: {
    description: 'Always fails in the model: it shows what 500 GENERATION_FAILED looks like.',
    catalog: 'founding',
    productPhotos: false,
    painter: { style: 'flint', failWith: 'The stone broke before the picture was done.' },
  },
  glacier: {
    description: 'Never finishes: it shows what 504 TIMEOUT looks like.',
    catalog: 'founding',
    productPhotos: false,
    painter: { style: 'glacier', neverFinishes: true },
  },
  harbor: {
    description: 'Still water at dusk, after about two seconds.',
    catalog: 'founding',
    productPhotos: false,
    painter: { style: 'harbor', delaySeconds: 2 },
  },
};

export type DemoOwner = 'owner' | 'stranger';

/** Who signs in to the dashboard. */
export const demoAccounts: Record<DemoOwner, { email: string }> = {
  owner: { email: 'owner@example.test' },
  stranger: { email: 'stranger@example.test' },
};

export interface DemoLicense extends Pick<License, 'tier' | 'creditsLimit' | 'foundingCatalog' | 'status'> {
  owner: DemoOwner;
  /** Names of specialist identities. */
  identities: string[];
  /** Credits already used in the period of the first start. */
  used: number;
}

const plan: DemoLicense = {
  owner: 'owner',
  tier: 'starter',
  creditsLimit: 500,
  foundingCatalog: true,
  status: 'active',
  identities: [],
  used: 0,
};

/** In the order of their age: the dashboard opens on the first. */
export const demoLicenses: Record<string, DemoLicense> = {
  pro: { ...plan, tier: 'pro', creditsLimit: 4000 },
  starter: plan,
  standard: { ...plan, tier: 'standard', creditsLimit: 1500 },
  enterprise: { ...plan, tier: 'enterprise', creditsLimit: 10_000 },
  specialist: { ...plan, tier: 'pro', creditsLimit: 4000, foundingCatalog: false, identities: ['drift'] },
  'nearly-spent': { ...plan, used: 498 },
  ended: { ...plan, status: 'ended' },
  stranger: { ...plan, tier: 'pro', creditsLimit: 4000, owner: 'stranger' },
};

export interface DemoKey {
  license: string;
  state: 'active' | 'revoked' | 'expired';
}

export const demoKeys: Record<string, DemoKey> = {
  ...Object.fromEntries(
    Object.keys(demoLicenses).map((name) => [name, { license: name, state: 'active' } satisfies DemoKey]),
  ),
  revoked: { license: 'starter', state: 'revoked' },
  expired: { license: 'starter', state: 'expired' },
};
