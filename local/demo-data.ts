import type { Identity } from '../shared/identities/identity.ts';
import type { VersionRights, VersionWords } from '../shared/identities/version.ts';
import type { Actor } from '../shared/accounts/audit.ts';
import type { License } from '../shared/licenses/license.ts';

/** The data that a first start makes. Names are fixed; ids and keys are made then. */
export interface DemoIdentity extends Pick<Identity, 'description' | 'catalog' | 'productPhotos'> {
  /** The painter's settings; null for an identity without an active model. */
  painter: Record<string, unknown> | null;
  /** What the active version says of itself. */
  note?: string;
  words?: Partial<VersionWords>;
  /** The version before it. */
  first?: { painter: Record<string, unknown>; note: string };
}

const identity = (
  description: string,
  painter: DemoIdentity['painter'],
  more: Partial<DemoIdentity> = {},
): DemoIdentity => ({ description, painter, catalog: 'founding', productPhotos: false, ...more });

export const demoIdentities: Record<string, DemoIdentity> = {
  aurora: identity(
    'Curtains of light over quiet northern land.',
    { style: 'aurora' },
    {
      note: 'Curtains of light.',
      first: { painter: { style: 'harbor' }, note: 'Quiet land, without the lights.' },
    },
  ),
  basalt: identity(
    'Dark stone, hard light and glowing veins.',
    { style: 'basalt' },
    { note: 'Stone instead of dunes.', first: { painter: { style: 'drift' }, note: 'Dunes of dark sand.' } },
  ),
  citrine: identity('Product photographs in a warm studio.', { style: 'citrine' }, { productPhotos: true }),
  drift: identity(
    'Dunes and waves in cut-paper layers. Granted one by one.',
    { style: 'drift' },
    { catalog: 'specialist' },
  ),
  ember: identity('Has no active model: it shows what 503 IDENTITY_UNAVAILABLE looks like.', null),
  flint: identity('Always fails in the model: it shows what 500 GENERATION_FAILED looks like.', {
    failWith: 'The stone broke before the picture was done.',
  }),
  glacier: identity('Never finishes: it shows what 504 TIMEOUT looks like.', { neverFinishes: true }),
  harbor: identity(
    'Still water at dusk, after about two seconds.',
    { style: 'harbor', delaySeconds: 2 },
    {
      note: 'Dusk, whatever is asked for.',
      words: { promptTemplate: '{prompt}, at dusk', triggerWords: ['dusk'], showsTriggerWords: true },
      first: { painter: { style: 'harbor', delaySeconds: 2 }, note: 'Any time of the day.' },
    },
  ),
};

/** Of all of them: a program drew them. */
export const demoRights: VersionRights = {
  license: 'Apache-2.0',
  source: "This service's own painter",
  consent: null,
};

/** A picture that the painter makes for the gallery. */
export interface DemoSample {
  prompt: string;
  seed: number;
  widthPx: number;
  heightPx: number;
}

const square = { widthPx: 1024, heightPx: 1024 };
const landscape = { widthPx: 1024, heightPx: 768 };
const portrait = { widthPx: 768, heightPx: 1024 };

/** By the names of identities. */
export const demoSamples: Record<string, DemoSample[]> = {
  aurora: [
    { prompt: 'A calm night over the mountains, emerald light', seed: 11, ...square },
    { prompt: 'A frozen lake under violet curtains of light', seed: 23, ...landscape },
    { prompt: 'A forest at midnight, a crisp starry sky', seed: 37, ...portrait },
    { prompt: 'A lighthouse in a turquoise glow at dusk', seed: 41, ...landscape },
  ],
  basalt: [
    { prompt: 'A black monolith with glowing amber veins', seed: 12, ...square },
    { prompt: 'Dark stone in a storm, crimson light', seed: 29, ...landscape },
    { prompt: 'A sphere of obsidian, minimal, cold light', seed: 31, ...portrait },
    { prompt: 'A gem of blue sapphire in rough rock', seed: 47, ...landscape },
  ],
  citrine: [
    { prompt: 'A bottle of amber perfume in warm morning light', seed: 5, ...square },
    { prompt: 'A porcelain vase, minimal, soft light', seed: 17, ...portrait },
    { prompt: 'A golden ring on beige linen, minimal', seed: 26, ...landscape },
    { prompt: 'A sphere of emerald glass in soft daylight', seed: 33, ...landscape },
  ],
  drift: [
    { prompt: 'Dunes of sand at sunset, coral and amber', seed: 8, ...square },
    { prompt: 'Waves in navy and turquoise paper', seed: 14, ...landscape },
    { prompt: 'A canyon at dawn, birds above', seed: 21, ...portrait },
    { prompt: 'Snowy hills at night, a silver moon', seed: 52, ...landscape },
  ],
  harbor: [
    { prompt: 'A quiet harbor at dusk, boats on still water', seed: 3, ...square },
    { prompt: 'A misty port at dawn, pastel houses', seed: 18, ...landscape },
    { prompt: 'A town by the sea at night, golden windows', seed: 27, ...portrait },
    { prompt: 'A lighthouse and a red boat in the evening', seed: 44, ...landscape },
  ],
};

/** Who made the demo data, in the audit log. */
export const demoActor: Actor = 'operator:demo world';

export type DemoOwner = 'owner' | 'stranger' | 'newcomer';

/** Who signs in to the dashboard. */
export const demoAccounts: Record<DemoOwner, { email: string }> = {
  owner: { email: 'owner@example.test' },
  stranger: { email: 'stranger@example.test' },
  /** Has no license. */
  newcomer: { email: 'newcomer@example.test' },
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
