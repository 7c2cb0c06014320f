import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Table } from '../../shared/store/table.ts';
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
  licenseIds: string[];
  /** What the hooks read: see world.py. */
  worldFile: string;
  folder: string;
  close(): Promise<void>;
}

const pictureHost = 'pictures.example';

/**
 * The local service with a model that takes no time, in an internet of one picture: what strangers would name
 * is never asked for. Many accounts are written to its table before anything is sent.
 */
export async function startFuzzedService(accounts: number, seed: number): Promise<FuzzedService> {
  const folder = temporaryFolder();
  const [container, internet] = await Promise.all([startQuickContainer(), startSmallInternet()]);
  const picture = await samplePhoto();
  const page = answer(picture, { 'content-type': 'image/png' });
  internet.site(pictureHost, { '/': page, '/?again': page });
  const { env } = preload(internet.access, join(folder, 'destinations.txt'));
  const service = await within(env, () =>
    startService({
      dataDir: join(folder, 'data'),
      args: ['--container', container.url, '--deadline', '2'],
    }),
  );
  const { dataDir, ready } = service;
  const worldFile = join(folder, 'world.json');
  const pictureFile = join(folder, 'picture.png');
  writeFileSync(pictureFile, picture);
  const table = tableOf(dataDir);
  const seeded = await seedAccounts(table, dataDir, accounts);
  const world = {
    seed,
    accounts: seeded,
    identities: ready.identities,
    pictureUrl: `https://${pictureHost}/`,
    pictureFile,
  };
  writeFileSync(worldFile, JSON.stringify(world), { mode: 0o600 });
  return {
    service,
    table,
    licenseIds: seeded.flatMap(({ licenseIds }) => licenseIds),
    worldFile,
    folder,
    async close() {
      await service.end();
      await Promise.all([container.close(), internet.close()]);
      removeFolder(folder);
    },
  };
}

/** What is started meanwhile inherits these variables. */
async function within<T>(variables: Record<string, string>, start: () => Promise<T>): Promise<T> {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, variables);
  try {
    return await start();
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}
