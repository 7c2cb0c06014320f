/**
 * Where the time of create-generation goes under load: V8's own CPU profile of the front at 16 requests at a time,
 * its samples grouped by package. Run as: node test/bench/profile.ts [--quick] [--write]
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { markdownTable } from '../../bin/costs/tables.ts';
import { cleanUp, cleanUpOnSignals, temporaryFolder } from './children.ts';
import { writeDocument } from './document.ts';
import { runLoad } from './overhead/load.ts';
import { ourServer, startStub } from './overhead/servers.ts';
import { makeStubWorld } from './overhead/stub-world.ts';
import { lambdaCredentials } from '../../lib/constructs/service-function.ts';
import { figure } from './report.ts';
import { sharesOf, sharesTable, type CpuProfile } from './profile-shares.ts';

const entry = fileURLToPath(new URL('../../functions/create-generation.ts', import.meta.url));

/** As it is deployed, but with names and with a map to the files that it was made from. */
async function bundleWithMap(folder: string): Promise<string> {
  const outfile = join(folder, 'index.js');
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    supported: { 'dynamic-import': false },
    mainFields: ['module', 'main'],
    alias: { '@aws-sdk/credential-provider-node': lambdaCredentials },
    sourcemap: 'external',
    logLevel: 'error',
  });
  return outfile;
}

/** What a call of DynamoDB costs, by the SDK and without it. */
async function measureFloor(stubUrl: string, worldFile: string, calls: number): Promise<string> {
  const program = fileURLToPath(new URL('call-floor.ts', import.meta.url));
  const args = [program, stubUrl, worldFile, String(calls)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const { document, client, bare } = JSON.parse(stdout) as Record<'document' | 'client' | 'bare', number>;
  return markdownTable(
    ['one strong read of an item', 'CPU, µs:'],
    [
      ["the SDK's document client", figure(document)],
      ["the SDK's client below it, as the service uses it", figure(client)],
      ['only signed, sent and parsed: no retries, time-outs or typed errors', figure(bare)],
    ],
  );
}

async function main(): Promise<void> {
  const isQuick = process.argv.includes('--quick');
  const eachMs = isQuick ? 3000 : 20_000;
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
  const floor = await measureFloor(stub.url, worldFile, isQuick ? 500 : 3000);
  await stub.child.end();
  const file = readdirSync(folder).find((name) => name.endsWith('.cpuprofile'));
  if (file === undefined) throw new Error('The front wrote no profile.');
  const profile = JSON.parse(readFileSync(join(folder, file), 'utf8')) as CpuProfile;
  const map = JSON.parse(readFileSync(`${bundle}.map`, 'utf8'));
  const table = sharesTable(sharesOf(profile, map), latenciesMs.length);
  console.log(`${table}\n\n${floor}`);
  if (process.argv.includes('--write')) await writeDocument({ profile: table, floor });
}

cleanUpOnSignals();
try {
  await main();
} finally {
  cleanUp();
}
