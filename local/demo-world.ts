import type { Identity } from '../shared/domain/identity.ts';
import type { License } from '../shared/domain/license.ts';

/** The world that a first start makes. Names are fixed; ids and keys are made then. */
export interface DemoIdentity extends Omit<Identity, 'identityId' | 'name' | 'slug' | 'model'> {
  /** Null for an identity without an active model; otherwise what the painter is told. */
  painter: Record<string, unknown> | null;
}

const founding = { catalog: 'founding', productPhotos: false } as const;

export const demoIdentities: Record<string, DemoIdentity> = {
  aurora: {
    ...founding,
    description: 'Curtains of light over quiet northern land.',
    painter: { style: 'aurora' },
  },
  basalt: {
    ...founding,
    description: 'Dark stone, hard light and glowing veins.',
    painter: { style: 'basalt' },
  },
  citrine: {
    ...founding,
    description: 'Product photographs in a warm studio.',
    productPhotos: true,
    painter: { style: 'citrine' },
  },
  drift: {
    ...founding,
    description: 'Dunes and waves in cut-paper layers. Granted one by one.',
    catalog: 'specialist',
    painter: { style: 'drift' },
  },
  ember: {
    ...founding,
    description: 'Has no active model: it shows what 503 IDENTITY_UNAVAILABLE looks like.',
    painter: null,
  },
  flint: {
    ...founding,
    description: 'Always fails in the model: it shows what 500 GENERATION_FAILED looks like.',
    painter: { failWith: 'The stone broke before the picture was done.' },
  },
  glacier: {
    ...founding,
    description: 'Never finishes: it shows what 504 TIMEOUT looks like.',
    painter: { neverFinishes: true },
  },
  harbor: {
    ...founding,
    description: 'Still water at dusk, after about two seconds.',
    painter: { style: 'harbor', delaySeconds: 2 },
  },
};

export type DemoOwner = 'owner' | 'stranger';

/** Who signs in to the dashboard. */
export const demoAccounts: Record<DemoOwner, { email: string }> = {
  owner: { email: 'owner@example.test' },
  stranger: { email: 'stranger@example.test' },
};

export interface DemoLicense extends Pick<
  License,
  'givenName' | 'tier' | 'creditsLimit' | 'foundingCatalog' | 'status'
> {
  owner: DemoOwner;
  /** Names of specialist identities. */
  identities: string[];
  /** Credits already used in the period of the first start. */
  used: number;
}

const plan: DemoLicense = {
  owner: 'owner',
  givenName: null,
  tier: 'starter',
  creditsLimit: 500,
  foundingCatalog: true,
  status: 'active',
  identities: [],
  used: 0,
};

/** The oldest first: the dashboard opens on it. */
export const demoLicenses: Record<string, DemoLicense> = {
  pro: { ...plan, tier: 'pro', creditsLimit: 4000 },
  starter: plan,
  standard: { ...plan, tier: 'standard', creditsLimit: 1500 },
  enterprise: { ...plan, tier: 'enterprise', creditsLimit: 10_000 },
  specialist: {
    ...plan,
    givenName: 'Drift only',
    tier: 'pro',
    creditsLimit: 4000,
    foundingCatalog: false,
    identities: ['drift'],
  },
  'nearly-spent': { ...plan, givenName: 'Nearly spent', used: 498 },
  ended: { ...plan, givenName: 'Spring campaign', status: 'ended' },
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
