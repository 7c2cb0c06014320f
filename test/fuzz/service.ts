import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { License } from '../../shared/licenses/license.ts';
import type { Table } from '../../shared/table/table.ts';
import { keepFolder, keepService, openFixture } from '../support/fixture.ts';
import { grant, issueKey } from '../support/grants.ts';
import { answer } from '../support/internet/pages.ts';
import { preload } from '../support/internet/preloaded.ts';
import { startSmallInternet } from '../support/internet/small-internet.ts';
import { sessionOf } from '../support/sessions.ts';
import { samplePhoto } from '../support/uploads.ts';

export type FuzzedService = Awaited<ReturnType<typeof openFuzzedService>>;

const pictureHost = 'pictures.example';

/**
 * Starts the local service with a model that takes no time, inside a small internet of one picture, so that no request
 * goes to strangers. Writes many accounts to its table.
 */
export function openFuzzedService(accounts: number, seed: number) {
  return openFixture(async (keep) => {
    const folder = keepFolder(keep);
    const internet = keep(await startSmallInternet());
    const picture = await samplePhoto();
    const page = answer(picture, { 'content-type': 'image/png' });
    internet.site(pictureHost, { '/': page, '/?again': page });
    const { env } = preload(internet.access, join(folder, 'destinations.txt'));
    const service = await keepService(keep, { quickContainer: true, args: ['--deadline', '2'], env });
    const { dataDir, ready, table } = service;
    const pictureFile = join(folder, 'picture.png');
    writeFileSync(pictureFile, picture);
    const fixture = {
      seed,
      accounts: await seedAccounts(table, dataDir, accounts),
      identities: ready.identities,
      pictureUrl: `https://${pictureHost}/`,
      pictureFile,
    };
    /** What the hooks read: see hooks.py. */
    const fixtureFile = join(folder, 'fixture.json');
    writeFileSync(fixtureFile, JSON.stringify(fixture), { mode: 0o600 });
    /** Where the hooks leave their counts. */
    const summaryFile = join(folder, 'summary.json');
    return { service, table, fixtureFile, summaryFile, folder };
  });
}

/**
 * Writes so many accounts that rate limits refuse few requests: the accounts take turns, so each key sends only a few
 * requests a minute.
 */
async function seedAccounts(table: Table, dataDir: string, count: number): Promise<object[]> {
  const accounts: object[] = [];
  for (let i = 0; i < count; i++) {
    const ownerId = randomUUID();
    const grantOwn = (changes: Partial<License>) =>
      grant(table, { ownerId, creditsLimit: 1_000_000, ...changes });
    // Every tenth account can afford only two images.
    const pro = await grantOwn(i % 10 === 0 ? { creditsLimit: 2 } : {});
    const starter = await grantOwn({ tier: 'starter' });
    const ended = await grantOwn({ status: 'ended' });
    // Every third account has a key of the Starter license, so that its tier's limits are tested too.
    const second = i % 3 === 0 ? starter : await issueKey(table, pro.license);
    accounts.push({
      keys: [pro.key, second.key],
      // Longer than any run.
      session: await sessionOf(dataDir, { sub: ownerId, lifetimeSeconds: 12 * 3600 }),
      licenseIds: [pro, starter, ended].map(({ license }) => license.licenseId),
    });
  }
  return accounts;
}
