import { randomBytes, randomUUID } from 'node:crypto';
import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { fingerprintApiKey, keyPrefix, newApiKey } from '../shared/keys/api-key.ts';
import { billingPeriod } from '../shared/licenses/billing-period.ts';
import { newId } from '../shared/base/ids.ts';
import { apiKeyStore } from '../shared/keys/store.ts';
import { plainIdentity } from '../shared/identities/identity.ts';
import { identityStore } from '../shared/identities/store.ts';
import { noWords, plainVersion } from '../shared/identities/version.ts';
import { licenseStore } from '../shared/licenses/store.ts';
import { periodStore } from '../shared/licenses/period-store.ts';
import { openTable, type Table } from '../shared/table/table.ts';
import { tableSchema } from '../shared/table/schema.ts';
import type { Account } from './cognito/options.ts';
import { newSigningKey } from './cognito/signing-key.ts';
import {
  readServiceFile,
  writeServiceFile,
  type DataFolder,
  type DemoFile,
  type SignInFile,
} from './data-folder.ts';
import {
  demoAccounts,
  demoActor as by,
  demoIdentities,
  demoRights,
  demoKeys,
  demoLicenses,
  type DemoOwner,
} from './demo-data.ts';

const dayMs = 24 * 3600 * 1000;

export interface Demo {
  /** Ids and raw keys, which are stored nowhere else. */
  made: DemoFile;
  signIn: SignInFile;
  /** Whether this start made it. */
  firstStart: boolean;
}

/** The demo data of a data folder. The first start makes it, with its table. */
export async function openDemo(folder: DataFolder, tableName: string): Promise<Demo> {
  const service = readServiceFile(folder);
  if (service.demo !== null && service.signIn !== null) {
    return { made: service.demo, signIn: service.signIn, firstStart: false };
  }
  const table = openTable(tableName);
  const owners = namesTo(demoAccounts, randomUUID) as Record<DemoOwner, string>;
  const [signingKey] = await Promise.all([newSigningKey(), createTable(table)]);
  const made = await seedDemoData(table, owners, Date.now());
  const signIn = { accounts: accountsOf(owners), signingKey };
  writeServiceFile(folder, { ...service, demo: made, signIn });
  return { made, signIn, firstStart: true };
}

async function createTable({ documents, name }: Table): Promise<void> {
  await documents.send(new CreateTableCommand({ TableName: name, ...structuredClone(tableSchema) } as never));
}

function accountsOf(owners: Record<DemoOwner, string>): Account[] {
  return (Object.keys(demoAccounts) as DemoOwner[]).map((name) => ({
    sub: owners[name],
    email: demoAccounts[name].email,
    password: randomBytes(9).toString('base64url'),
  }));
}

async function seedDemoData(
  table: Table,
  owners: Record<DemoOwner, string>,
  nowMs: number,
): Promise<DemoFile> {
  const identities = namesTo(demoIdentities, () => newId('identity'));
  const licenses = namesTo(demoLicenses, () => newId('license'));
  const keys = namesTo(demoKeys, () => newApiKey());
  const of = { made: { identities, licenses, keys }, owners, nowMs };
  await Promise.all([
    ...Object.keys(demoIdentities).map((name) => seedIdentity(table, name, identities[name]!, nowMs)),
    ...Object.keys(demoLicenses).map((name) => seedLicense(table, name, of)),
    ...Object.keys(demoKeys).map((name) => seedKey(table, name, of)),
  ]);
  return of.made;
}

interface Seed {
  made: DemoFile;
  owners: Record<DemoOwner, string>;
  nowMs: number;
}

function namesTo(demo: Record<string, unknown>, make: () => string): Record<string, string> {
  return Object.fromEntries(Object.keys(demo).map((name) => [name, make()]));
}

async function seedIdentity(table: Table, name: string, identityId: string, nowMs: number): Promise<void> {
  const { painter, first, note = null, words, ...facts } = demoIdentities[name]!;
  const versions = [first, painter && { painter, note, words }]
    .filter((one) => !!one)
    .map((one, i) => ({
      ...plainVersion,
      number: i + 1,
      createdAtMs: nowMs,
      note: one.note,
      settings: one.painter,
      words: { ...noWords, ...('words' in one && one.words) },
      rights: demoRights,
    }));
  const model = versions.at(-1) ?? null;
  const identity = {
    ...plainIdentity,
    ...facts,
    identityId,
    name,
    slug: name,
    model,
    lastVersion: versions.length,
  };
  const stored = versions.map((version) => ({ ...version, samples: [], retiresAtMs: null }));
  await identityStore(table).change(identityId, () => ({ identity, versions: stored }), by);
}

async function seedLicense(table: Table, name: string, { made, owners, nowMs }: Seed): Promise<void> {
  const { owner, identities, used, ...license } = demoLicenses[name]!;
  const licenseId = made.licenses[name]!;
  const stored = {
    ...license,
    licenseId,
    ownerId: owners[owner],
    planName: null,
    identityIds: identities.map((identity) => made.identities[identity]!),
    apiAccess: true,
    graceUntilMs: null,
    extraUntilMs: null,
    suspended: null,
    moderation: null,
    periodAnchorMs: nowMs,
    maxInFlight: null,
    carried: null,
    activeUntilMs: license.status === 'ended' ? nowMs - dayMs : null,
    createdAtMs: nowMs - 30 * dayMs + Object.keys(demoLicenses).indexOf(name),
  };
  await licenseStore(table).insert(stored, by);
  if (used > 0) {
    await periodStore(table).importUsage(licenseId, billingPeriod(nowMs, nowMs).startMs, used);
  }
}

async function seedKey(table: Table, name: string, { made, owners, nowMs }: Seed): Promise<void> {
  const { license, state } = demoKeys[name]!;
  const rawKey = made.keys[name]!;
  await apiKeyStore(table).insert({
    ...fingerprintApiKey(rawKey),
    keyPrefix: keyPrefix(rawKey),
    name,
    monthlyCredits: null,
    access: 'license',
    maxInFlight: null,
    licenseId: made.licenses[license]!,
    ownerId: owners[demoLicenses[license]!.owner],
    createdAtMs: nowMs - dayMs - Object.keys(demoKeys).indexOf(name),
    expiresAtMs: state === 'expired' ? nowMs - 1000 : null,
    revokedAtMs: state === 'revoked' ? nowMs - 1000 : null,
  });
}
