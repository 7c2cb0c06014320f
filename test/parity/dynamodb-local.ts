import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
/** Ignored by Git: its licence lets nobody pass it on. */
const downloads = join(here, 'downloads');
const pom = join(here, 'pom.xml');
/** As DynamoDB Local 2 names it. */
const mainClass = 'com.amazonaws.services.dynamodbv2.local.main.ServerRunner';

export const version = /<dynamodb-local.version>(.*)</.exec(readFileSync(pom, 'utf8'))![1]!;

/** What is missing on this machine, as a sentence; empty when nothing is. */
export function missingPrograms(): string {
  const missing = [
    ['java', 'Java 17 or later'],
    ['mvn', 'Maven 3'],
  ].filter(([program]) => spawnSync(program!, ['-version']).error !== undefined);
  const names = missing.map(([program, name]) => `${name} (the command ${program})`);
  return names.length === 0 ? '' : `DynamoDB Local needs ${names.join(' and ')}: install that first.`;
}

/** Fetches it with Maven, unless that was done before. @returns the folder that it is in. */
export function fetchDynamoDbLocal(): string {
  const folder = join(downloads, version);
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  const { status } = spawnSync('mvn', ['-q', '-B', '-f', pom, `-Dfolder=${unfinished}`, 'package'], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (status !== 0) throw new Error('Maven could not fetch DynamoDB Local: it said why above.');
  renameSync(unfinished, folder);
  return folder;
}

/** Starts it on a free port, with everything in memory and nothing told to AWS. */
export async function startDynamoDbLocal(folder: string): Promise<{ url: string; close(): Promise<void> }> {
  const port = await freePort();
  const natives = join(folder, 'native-libraries');
  const args = [
    `-Djava.library.path=${natives}`,
    `-Dsqlite4java.library.path=${natives}`,
    '-cp',
    join(folder, 'libraries', '*'),
    mainClass,
  ];
  const options = ['-inMemory', '-sharedDb', '-disableTelemetry', '-port', String(port)];
  const child = spawn('java', [...args, ...options], {
    env: { ...process.env, DDB_LOCAL_TELEMETRY: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += String(chunk)));
  const url = `http://127.0.0.1:${port}`;
  const close = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  };
  try {
    await until('DynamoDB Local answers', () => isAnswering(url, child));
  } catch (error) {
    await close();
    throw new Error(`DynamoDB Local did not start:\n${printed}`, { cause: error });
  }
  return { url, close };
}

/** Any answer will do: without a signature it is an error. */
async function isAnswering(url: string, child: ChildProcess): Promise<boolean> {
  if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
  return fetch(url, { signal: AbortSignal.timeout(2000) }).then(
    () => true,
    () => false,
  );
}
