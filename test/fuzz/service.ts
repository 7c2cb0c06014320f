import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Table } from '../../shared/table/table.ts';
import { tableOf } from '../support/grants.ts';
import { answer } from '../support/internet/pages.ts';
import { preload } from '../support/internet/preloaded.ts';
import { startSmallInternet } from '../support/internet/small-internet.ts';
import { removeFolder, startService, temporaryFolder, type RunningService } from '../support/service.ts';
import { samplePhoto } from '../support/uploads.ts';
import { seedAccounts } from './accounts.ts';
import { startQuickContainer } from './quick-container.ts';

export interface FuzzedService {
  service: RunningService;
  table: Table;
  /** The file that the hooks read: see world.py. */
  worldFile: string;
  /** Where the hooks leave their counts. */
  summaryFile: string;
  folder: string;
  close(): Promise<void>;
}

const pictureHost = 'pictures.example';

/**
 * Starts the local service with a model that takes no time, inside a small internet of one picture, so that no request
 * goes to strangers. Writes many accounts to its table.
 */
export async function startFuzzedService(accounts: number, seed: number): Promise<FuzzedService> {
  const folder = temporaryFolder();
  const [container, internet] = await Promise.all([startQuickContainer(), startSmallInternet()]);
  const picture = await samplePhoto();
  const page = answer(picture, { 'content-type': 'image/png' });
  internet.site(pictureHost, { '/': page, '/?again': page });
  const { env } = preload(internet.access, join(folder, 'destinations.txt'));
  const args = ['--container', container.url, '--deadline', '2'];
  const service = await startService({ dataDir: join(folder, 'data'), args, env });
  const { dataDir, ready } = service;
  const worldFile = join(folder, 'world.json');
  const pictureFile = join(folder, 'picture.png');
  writeFileSync(pictureFile, picture);
  const table = tableOf(dataDir);
  const world = {
    seed,
    accounts: await seedAccounts(table, dataDir, accounts),
    identities: ready.identities,
    pictureUrl: `https://${pictureHost}/`,
    pictureFile,
  };
  writeFileSync(worldFile, JSON.stringify(world), { mode: 0o600 });
  return {
    service,
    table,
    worldFile,
    summaryFile: join(folder, 'summary.json'),
    folder,
    async close() {
      await service.end();
      await Promise.all([container.close(), internet.close()]);
      removeFolder(folder);
    },
  };
}
