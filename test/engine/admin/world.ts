import { AsyncLocalStorage } from 'node:async_hooks';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { runAdmin } from '../../../bin/admin/program.ts';
import { dataFolder, writeJson, type EnginesFile } from '../../../local/data-folder.ts';
import type { License } from '../../../shared/licenses/license.ts';
import { licenseStore } from '../../../shared/licenses/store.ts';
import type { Table } from '../../../shared/table/table.ts';
import { newLicense } from '../../support/grants.ts';
import { runProgram, type Run } from '../../support/run-program.ts';
import { removeFolder, temporaryFolder } from '../../support/service.ts';
import { startTable } from '../generations/table.ts';
import { startBucket } from './bucket.ts';

/** What a local service leaves for the CLI to find, with the real engine behind it. */
export interface World {
  /** The data folder that `--data` names. */
  folder: string;
  /** The same table, for what only the service itself would write. */
  table: Table;
  engines: EnginesFile;
  /** Runs a command of the CLI in this process. Words are split, what follows is taken as it is. */
  admin(words: string, ...more: string[]): Promise<Run>;
  /** Runs it with `--json` and demands success. @returns the one object on stdout. */
  json(words: string, ...more: string[]): Promise<any>;
  /** A license as a grant leaves it, without the cost of a process. */
  license(members?: Partial<License>): Promise<License>;
  close(): Promise<void>;
}

/** @returns a world that is filled by the time that the first test runs. */
export function useAdmin(): World {
  const world = {} as World;
  beforeAll(async () => void Object.assign(world, await openWorld()));
  afterAll(() => world.close());
  return world;
}

async function openWorld(): Promise<World> {
  const folder = temporaryFolder();
  const { table, dynamoDbUrl, close } = await startTable();
  const signing = { region: 'us-east-1', accessKeyId: 'AKIDTEST', secretAccessKey: 'secret' };
  const bucket = await startBucket(folder, 'images', signing);
  const engines = {
    tableName: table.name,
    bucketName: 'images',
    dynamoDbUrl,
    s3Url: bucket.url,
    cognitoUrl: 'http://127.0.0.1:9',
    userPoolId: 'us-east-1_test',
    ...signing,
  };
  writeJson(dataFolder(folder).engines, engines);
  const admin = (words: string, ...more: string[]) =>
    runHere(['--data', folder, ...words.split(' '), ...more]);
  return {
    folder,
    engines,
    table,
    admin,
    async json(words, ...more) {
      const run = await admin(words, ...more, '--json');
      if (run.code !== 0) throw new Error(`admin ${words} … ended with ${run.code}: ${run.stderr}`);
      return JSON.parse(run.stdout);
    },
    async license(members) {
      const license = newLicense({ ownerId: 'owner', ...members });
      await licenseStore(table).insert(license);
      return license;
    },
    async close() {
      await bucket.close();
      await close();
      removeFolder(folder);
    },
  };
}

const printing = new AsyncLocalStorage<Run>();

/** Runs the CLI in this process, because starting one takes much longer than most commands. */
export function runHere(args: string[]): Promise<Run> {
  capturePrinting();
  const run: Run = { code: null, stdout: '', stderr: '' };
  return printing.run(run, async () => {
    run.code = await runAdmin(args);
    return run;
  });
}

let isCapturing = false;

/** What a command prints belongs to its run, also while others run beside it. */
function capturePrinting(): void {
  if (isCapturing) return;
  isCapturing = true;
  Object.defineProperty(process.stdin, 'isTTY', { value: false, configurable: true });
  for (const name of ['stdout', 'stderr'] as const) {
    const write = process[name].write.bind(process[name]);
    process[name].write = ((text: string, ...rest: []) => {
      const run = printing.getStore();
      if (run === undefined) return write(text, ...rest);
      run[name] += text;
      return true;
    }) as typeof write;
  }
}

/** Runs the CLI in a process of its own. */
export function spawnAdmin(args: string[], env?: Record<string, string>): Promise<Run> {
  const program = join(import.meta.dirname, '../../../bin/admin.ts');
  return runProgram(program, args, env && { env });
}
