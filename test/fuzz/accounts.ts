import { randomUUID } from 'node:crypto';
import { signAccessToken } from '../../local/cognito/tokens.ts';
import type { License } from '../../shared/licenses/license.ts';
import { licenseStore } from '../../shared/licenses/store.ts';
import type { Table } from '../../shared/table/table.ts';
import { issueKey, newLicense } from '../support/grants.ts';
import { tokenSettings } from '../support/sessions.ts';

/** A caller of the run, by key and by session. */
export interface FuzzAccount {
  /** Raw keys of the first license. */
  keys: string[];
  session: string;
  /** One of the tier Pro, one of the tier Starter, and one that has ended. */
  licenseIds: string[];
}

/** Longer than any run. */
const sessionSeconds = 12 * 3600;
/** Every tenth account can afford only two images. */
const credits = (i: number) => (i % 10 === 0 ? 2 : 1_000_000);

/**
 * Writes so many accounts that rate limits refuse few requests: the accounts take turns, so each key sends only a few
 * requests a minute.
 */
export async function seedAccounts(table: Table, dataDir: string, count: number): Promise<FuzzAccount[]> {
  const settings = tokenSettings(dataDir, 'owner@example.test');
  const accounts: FuzzAccount[] = [];
  for (let i = 0; i < count; i++) accounts.push(await seedAccount(i));
  return accounts;

  async function seedAccount(i: number): Promise<FuzzAccount> {
    const ownerId = randomUUID();
    const license = newLicense({ ownerId, creditsLimit: credits(i) });
    const starter = newLicense({ ownerId, tier: 'starter', creditsLimit: 1_000_000 });
    const ended = newLicense({ ownerId, status: 'ended' });
    await Promise.all([license, starter, ended].map((each) => licenseStore(table).insert(each)));
    const session = await signAccessToken({
      ...settings,
      account: { sub: ownerId },
      lifetimeSeconds: sessionSeconds,
    });
    return {
      // Every third account has a key of the Starter license, so that its tier's limits are tested too.
      keys: await Promise.all([license, i % 3 === 0 ? starter : license].map(keyOf)),
      session,
      licenseIds: [license, starter, ended].map(({ licenseId }) => licenseId),
    };
  }

  async function keyOf(license: License): Promise<string> {
    return (await issueKey(table, license)).key;
  }
}
