/**
 * Where the time of create-generation goes under load: V8's own CPU profile of the front at 16 requests at a time,
 * its samples grouped by package. Run as: node test/bench/profile.ts [--quick] [--write]
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { cleanUp, cleanUpOnSignals, temporaryFolder } from './children.ts';
import { writeDocument } from './document.ts';
import { runLoad } from './overhead/load.ts';
import { ourServer, startStub } from './overhead/servers.ts';
import { makeStubWorld } from './overhead/stub-world.ts';
import { lambdaCredentials } from '../../lib/constructs/service-function.ts';
import { sharesOf, sharesTable, type CpuProfile } from './profile-shares.ts';

const entry = fileURLToPath(new URL('../../functions/create-generation.ts', import.meta.url));

/** As it is deployed, but with names and with a map to the files that it was made from. */
async function bundleWithMap(folder: string): Promise<string> {
  const outfile = join(folder, 'index.mjs');
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    alias: { '@aws-sdk/credential-provider-node': lambdaCredentials },
    sourcemap: 'external',
    logLevel: 'error',
  });
  return outfile;
}

async function main(): Promise<void> {
  const eachMs = process.argv.includes('--quick') ? 3000 : 20_000;
  const folder = temporaryFolder();
  const bundle = await bundleWithMap(folder);
  const { world, caller } = await makeStubWorld();
  const worldFile = join(folder, 'world.json');
  writeFileSync(worldFile, JSON.stringify(world));
  const stub = await startStub(worldFile);
  const flags = ['--cpu-prof', `--cpu-prof-dir=${folder}`];
  const { child, target } = await ourServer(stub.url, bundle, caller, flags).start();
  const { latenciesMs } = await runLoad(target, 16, eachMs);
  process.kill(child.pid, 'SIGTERM');
  for (let i = 0; i < 600 && !child.ended(); i++) await sleep(50);
  await stub.child.end();
  const file = readdirSync(folder).find((name) => name.endsWith('.cpuprofile'));
  if (file === undefined) throw new Error('The front wrote no profile.');
  const profile = JSON.parse(readFileSync(join(folder, file), 'utf8')) as CpuProfile;
  const map = JSON.parse(readFileSync(`${bundle}.map`, 'utf8'));
  const table = sharesTable(sharesOf(profile, map), latenciesMs.length);
  console.log(table);
  if (process.argv.includes('--write')) await writeDocument({ profile: table });
}

cleanUpOnSignals();
try {
  await main();
} finally {
  cleanUp();
}
