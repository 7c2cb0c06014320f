import { fingerprintApiKey, keyPrefix, newApiKey } from '../shared/domain/api-key.ts';
import { billingPeriod } from '../shared/domain/billing-period.ts';
import { newId } from '../shared/domain/ids.ts';
import { apiKeyStore } from '../shared/store/api-key-store.ts';
import { identityStore } from '../shared/store/identity-store.ts';
import { licenseStore } from '../shared/store/license-store.ts';
import { periodStore } from '../shared/store/period-store.ts';
import type { Table } from '../shared/store/table.ts';
import type { DemoFile } from './data-folder.ts';
import { demoIdentities, demoKeys, demoLicenses, type DemoKey, type DemoOwner } from './demo-world.ts';

const dayMs = 24 * 3600 * 1000;

/**
 * Makes the demo world in an empty table, for accounts that exist already.
 * @returns its ids and raw keys, which exist nowhere else.
 */
export async function seedDemoWorld(
  table: Table,
  owners: Record<DemoOwner, string>,
  nowMs: number,
): Promise<DemoFile> {
  const identities = namesTo(demoIdentities, () => newId('identity'));
  const licenses = namesTo(demoLicenses, () => newId('license'));
  const keys = namesTo(demoKeys, () => newApiKey());
  await Promise.all([
    ...Object.keys(demoIdentities).map((name) => seedIdentity(table, name, identities[name]!)),
    ...Object.keys(demoLicenses).map((name) =>
      seedLicense(table, name, licenses[name]!, { owners, identities, nowMs }),
    ),
    ...Object.entries(demoKeys).map(([name, demo]) =>
      seedKey(table, name, demo, keys[name]!, {
        licenseId: licenses[demo.license]!,
        ownerId: owners[demoLicenses[demo.license]!.owner],
        nowMs,
      }),
    ),
  ]);
  return { identities, licenses, keys };
}

function namesTo(world: Record<string, unknown>, make: () => string): Record<string, string> {
  return Object.fromEntries(Object.keys(world).map((name) => [name, make()]));
}

async function seedIdentity(table: Table, name: string, identityId: string): Promise<void> {
  const { painter, ...identity } = demoIdentities[name]!;
  const model =
    painter === null
      ? null
      : { version: 'painter', adapterKey: null, adapterSha256: null, settings: painter };
  await identityStore(table).put({ ...identity, identityId, name, slug: name, model });
}

async function seedLicense(
  table: Table,
  name: string,
  licenseId: string,
  world: { owners: Record<DemoOwner, string>; identities: Record<string, string>; nowMs: number },
): Promise<void> {
  const { owner, identities, used, ...license } = demoLicenses[name]!;
  const { nowMs } = world;
  await licenseStore(table).insert({
    ...license,
    licenseId,
    ownerId: world.owners[owner],
    identityIds: identities.map((identity) => world.identities[identity]!),
    apiAccess: true,
    periodAnchorMs: nowMs,
    activeUntilMs: license.status === 'ended' ? nowMs - dayMs : null,
    createdAtMs: nowMs - 30 * dayMs + Object.keys(demoLicenses).indexOf(name),
  });
  if (used > 0) {
    await periodStore(table).importUsage(licenseId, billingPeriod(nowMs, nowMs).startMs, used);
  }
}

async function seedKey(
  table: Table,
  name: string,
  demo: DemoKey,
  rawKey: string,
  of: { licenseId: string; ownerId: string; nowMs: number },
): Promise<void> {
  const { nowMs, ...belongsTo } = of;
  await apiKeyStore(table).insert({
    ...fingerprintApiKey(rawKey),
    keyPrefix: keyPrefix(rawKey),
    name,
    ...belongsTo,
    createdAtMs: nowMs - dayMs - Object.keys(demoKeys).indexOf(name),
    expiresAtMs: demo.state === 'expired' ? nowMs - 1000 : null,
    revokedAtMs: demo.state === 'revoked' ? nowMs - 1000 : null,
  });
}
