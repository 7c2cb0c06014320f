import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pointSdkAt } from '../../local/environment.ts';
import type { EnginesFile } from '../../local/data-folder.ts';
import { fingerprintApiKey, keyPrefix, newApiKey } from '../../shared/keys/api-key.ts';
import { creditPeriod } from '../../shared/licenses/credit-period.ts';
import type { License } from '../../shared/licenses/license.ts';
import { newLicense as licenseOf } from '../../shared/licenses/new-license.ts';
import { apiKeyStore, type ApiKey } from '../../shared/keys/store.ts';
import { addExtraCredits } from '../../shared/licenses/extra-credits-store.ts';
import { licenseStore } from '../../shared/licenses/store.ts';
import { periodStore } from '../../shared/licenses/period-store.ts';
import { openTable, type Table } from '../../shared/table/table.ts';

/** The table of a running service, spoken to by the real SDK over HTTP, as the operator's CLI does. */
export function tableOf(dataDir: string): Table {
  const engines = JSON.parse(readFileSync(join(dataDir, 'engines.json'), 'utf8')) as EnginesFile;
  pointSdkAt(engines);
  return openTable(engines.tableName);
}

export interface Granted {
  license: License;
  /** A raw key of it. */
  key: string;
  keyId: string;
}

/** An active Pro license that begins now, with what a test wants different. */
export function newLicense(changes: Partial<License> = {}): License {
  const usual = { ownerId: randomUUID(), tier: 'pro', creditsLimit: 4000, foundingCatalog: true } as const;
  return licenseOf({ ...usual, ...changes }, Date.now());
}

/** A license of a test's own, with one key, so that no test meets another's rate limit or credits. */
export async function grant(
  table: Table,
  options: Partial<License> & { used?: number; extra?: number; key?: Partial<ApiKey> } = {},
): Promise<Granted> {
  const { used = 0, extra = 0, key: keyOptions = {}, ...changes } = options;
  const license = newLicense(changes);
  await licenseStore(table).insert(license);
  if (used > 0) {
    const { startMs } = creditPeriod(license, Date.now());
    await periodStore(table).importUsage(license.licenseId, startMs, used);
  }
  if (extra > 0) {
    const { licenseId } = license;
    const paymentId = `gift_${licenseId}`;
    const expiresAtMs = Date.now() + 1e9;
    const gift = { licenseId, paymentId, amount: extra, source: 'grant', reason: 'x', expiresAtMs } as const;
    await addExtraCredits(table, gift, 'operator:ada', Date.now());
  }
  const key = await issueKey(table, license, keyOptions);
  return { license, ...key };
}

/** One more key of a license. */
export async function issueKey(
  table: Table,
  license: License,
  options: Partial<ApiKey> = {},
): Promise<{ key: string; keyId: string }> {
  const { raw, stored } = newStoredKey({
    licenseId: license.licenseId,
    ownerId: license.ownerId,
    ...options,
  });
  const { stored: isStored } = await apiKeyStore(table).insert(stored);
  if (!isStored) throw new Error('a test issues more keys than a license or an account may have');
  return { key: raw, keyId: stored.keyId };
}

/** A new key, and what is stored of it. */
export function newStoredKey(options: Pick<ApiKey, 'licenseId' | 'ownerId'> & Partial<ApiKey>): {
  raw: string;
  stored: ApiKey;
} {
  const raw = newApiKey();
  const stored: ApiKey = {
    ...fingerprintApiKey(raw),
    keyPrefix: keyPrefix(raw),
    name: 'test',
    monthlyCredits: null,
    access: 'license',
    maxInFlight: null,
    createdAtMs: Date.now(),
    expiresAtMs: null,
    revokedAtMs: null,
    ...options,
  };
  return { raw, stored };
}
