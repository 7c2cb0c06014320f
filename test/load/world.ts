import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EnginesFile } from '../../local/data-folder.ts';
import type { Table } from '../../shared/store/table.ts';
import { seedAccounts, type FuzzAccount } from '../fuzz/accounts.ts';
import { tableOf } from '../support/grants.ts';
import { removeFolder, startService, temporaryFolder } from '../support/service.ts';
import { until } from '../support/until.ts';
import { samplePhoto } from '../support/uploads.ts';
import { startFaultyContainer, type FaultyContainer } from './faulty-container.ts';
import type { Sample } from './probe.ts';

export interface LoadWorld {
  baseUrl: string;
  bucketName: string;
  /** By name, as in the demo world: some of them fail, always. */
  identities: Record<string, string>;
  accounts: FuzzAccount[];
  table: Table;
  container: FaultyContainer;
  picture: Buffer;
  samples(): Sample[];
  /** What the service printed since it was ready, and what it logged. */
  printed(): string;
  logged(): string;
  /** Stops the service as its user would. @returns its exit code. */
  stop(): Promise<number | null>;
  /** Ends and removes all that is left. */
  remove(): Promise<void>;
}

/** With two keys each: fewer would meet their rate limits more often. */
const accounts = 100;
/** Short, because some requests last until then, and long enough for a machine that is busy. */
const deadlineSeconds = 15;
const probe = new URL('probe.ts', import.meta.url);

/** The local service in a process of its own, on a folder of its own, with many accounts and a model that has faults. */
export async function startLoadWorld(seed: number): Promise<LoadWorld> {
  const folder = temporaryFolder();
  const dataDir = join(folder, 'data');
  const samplesFile = join(folder, 'samples.jsonl');
  const container = await startFaultyContainer(seed);
  const service = await startService({
    dataDir,
    args: ['--container', container.url, '--deadline', String(deadlineSeconds)],
    env: { NODE_OPTIONS: `--import=${probe.href}`, LOAD_SAMPLES: samplesFile },
  });
  await until('its banner is printed', () => service.output().includes('Ctrl-C'));
  // The banner begins with a key of the demo world, for its user to try.
  const banner = service.output().length;
  const engines = JSON.parse(readFileSync(join(dataDir, 'engines.json'), 'utf8')) as EnginesFile;
  const table = tableOf(dataDir);
  return {
    baseUrl: service.ready.baseUrl,
    bucketName: engines.bucketName,
    identities: service.ready.identities,
    accounts: await seedAccounts(table, dataDir, accounts),
    table,
    container,
    picture: await samplePhoto(),
    samples: () => readSamples(samplesFile),
    printed: () => service.output().slice(banner),
    logged: () => readFileSync(join(dataDir, 'service.log'), 'utf8'),
    stop: () => service.end(),
    async remove() {
      await Promise.all([service.end('SIGKILL'), container.close()]);
      removeFolder(folder);
    },
  };
}

function readSamples(path: string): Sample[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Sample);
}
