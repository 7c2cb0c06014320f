import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { keepFolder, keepService, openFixture } from '../support/fixture.ts';
import { answer } from '../support/internet/pages.ts';
import { preload } from '../support/internet/preloaded.ts';
import { startSmallInternet } from '../support/internet/small-internet.ts';
import { samplePhoto } from '../support/uploads.ts';
import { seedAccounts } from './accounts.ts';

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
    /** What the hooks read: see fixture.py. */
    const fixtureFile = join(folder, 'fixture.json');
    writeFileSync(fixtureFile, JSON.stringify(fixture), { mode: 0o600 });
    /** Where the hooks leave their counts. */
    const summaryFile = join(folder, 'summary.json');
    return { service, table, fixtureFile, summaryFile, folder };
  });
}
