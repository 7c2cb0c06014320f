import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { EnginesFile } from '../../local/data-folder.ts';
import { seededRandom, type Random } from '../faults/simulation/random.ts';
import { startQuickContainer } from '../fuzz/quick-container.ts';
import { grant, tableOf, type Granted } from '../support/grants.ts';
import { removeFolder, startService } from '../support/service.ts';
import { startBreakingProxy } from './breaking-proxy.ts';
import { clients, isInstalled, startDriver, type ClientName, type Command, type Driver } from './driver.ts';
import { judge, type Call, type Verdict } from './judge.ts';

const usage = `npm run client-faults -- [options]

  --calls N        how many images are asked for (default 100)
  --client NAME    typescript or python; may be given twice (default: those that are installed)
  --seed N         what breaks follows from it, but for what the clock decides (default: any)
  --help           prints this

Starts the service on a folder of its own, and calls it by the real clients through a proxy that breaks connections. It
exits with 1 when a call was charged twice, or an image was lost.`;

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '100' },
    client: { type: 'string', multiple: true },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    help: { type: 'boolean', default: false },
  },
});

interface Setting {
  service: Awaited<ReturnType<typeof startService>>;
  proxies: { api: string; storage: string };
  storageUrl: string;
  random: Random;
}

const callsAtOnce = 60;
/** Fewer than a key may send in a minute, with room for what is sent again. */
const callsPerKey = 4;

async function main(): Promise<void> {
  const [calls, seed] = [Number(values.calls), Number(values.seed)];
  const chosen = (values.client ?? clients.filter(isInstalled)) as ClientName[];
  const isUnknown = chosen.some((name) => !clients.includes(name) || !isInstalled(name));
  if (isUnknown || ![calls, seed].every((value) => value >= 0)) throw new Error(usage);
  for (const client of chosen) {
    const { violations } = await runClient(client, { calls, seed });
    if (violations.length > 0) process.exitCode = 1;
  }
}

interface RunOptions {
  calls: number;
  seed: number;
}

/** Runs one client's calls against a service of their own. */
async function runClient(client: ClientName, options: RunOptions): Promise<Verdict> {
  const startedMs = Date.now();
  const container = await startQuickContainer();
  const service = await startService({ args: ['--container', container.url] });
  const random = seededRandom(options.seed);
  const engines = JSON.parse(readFileSync(join(service.dataDir, 'engines.json'), 'utf8')) as EnginesFile;
  const storageUrl = new URL(engines.s3Url).origin;
  const api = await startBreakingProxy(Number(new URL(service.ready.baseUrl).port), random);
  const storage = await startBreakingProxy(Number(new URL(storageUrl).port), random, {
    // A download may take five minutes.
    mayStall: false,
  });
  const driver = startDriver(client);
  try {
    const proxies = { api: api.url, storage: storage.url };
    const calls = await makeCalls({ service, proxies, storageUrl, random }, driver, options);
    const { violations, ...counts } = await judge(calls, tableOf(service.dataDir), engines.bucketName);
    const seconds = secondsSince(startedMs);
    const faults = { api: api.counts, storage: storage.counts };
    console.dir({ client, ...options, seconds, ...counts, faults });
    for (const one of violations.slice(0, 50)) console.error(one);
    console.log(`${client}: ${violations.length} violations.`);
    return { ...counts, violations };
  } finally {
    await driver.end();
    await Promise.all([api.close(), storage.close(), service.end(), container.close()]);
    removeFolder(service.dataDir);
  }
}

async function makeCalls(setting: Setting, driver: Driver, { calls }: RunOptions): Promise<Call[]> {
  const table = tableOf(setting.service.dataDir);
  const made: Call[] = [];
  let granted: Promise<Granted>;
  let begun = 0;
  const startedMs = Date.now();
  async function worker(): Promise<void> {
    while (begun < calls) {
      const call = begun++;
      if (call % callsPerKey === 0) granted = grant(table);
      const command = commandOf(setting, call, (await granted).key);
      const outcomes = [await driver.run(command)];
      // As a program does that ended before it got its image.
      if (setting.random.chance(0.1)) outcomes.push(await driver.run(command));
      made.push({ command, outcomes });
      if (made.length % 200 === 0) console.log(`${made.length} calls after ${secondsSince(startedMs)} s`);
    }
  }
  await Promise.all(Array.from({ length: callsAtOnce }, worker));
  return made;
}

function secondsSince(startedMs: number): number {
  return Math.round((Date.now() - startedMs) / 1000);
}

function commandOf({ service, proxies, storageUrl, random }: Setting, call: number, apiKey: string): Command {
  const { aurora, harbor, citrine } = service.ready.identities as Record<string, string>;
  return {
    call,
    kind: random.pick(['generate', 'events', 'async'] as const),
    apiKey,
    baseUrl: proxies.api + new URL(service.ready.baseUrl).pathname,
    storage: { url: storageUrl, proxyUrl: proxies.storage },
    idempotencyKey: randomUUID(),
    body: {
      identityId: random.pick([aurora, harbor, citrine])!,
      prompt: `call ${call}`,
      width: 512,
      height: 512,
      numOutputs: random.int(1, 2),
    },
  };
}

if (values.help) console.log(usage);
else await main();
