import { AsyncLocalStorage } from 'node:async_hooks';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { runAdmin } from '../../../bin/admin/program.ts';
import { dataFolder, writeJson, type EnginesFile } from '../../../local/data-folder.ts';
import type { License } from '../../../shared/licenses/license.ts';
import { licenseStore } from '../../../shared/licenses/store.ts';
import { newLicense } from '../../support/grants.ts';
import { runProgram, type Run } from '../../support/run-program.ts';
import { keepFolder, type Keep } from '../../support/fixture.ts';
import { useFixture } from '../../support/use-fixture.ts';
import { startTable } from '../generations/table.ts';
import { startS3 } from '../local/s3/support.ts';

/** What a local service leaves for the CLI to find, with the real engine behind it. */
export const useAdmin = () => useFixture(openAdmin);

async function openAdmin(keep: Keep) {
  const folder = keepFolder(keep);
  const { table, dynamoDbUrl } = keep(await startTable());
  const credentials = { accessKeyId: 'AKIDTEST', secretAccessKey: 'secret' };
  const region = 'us-east-1';
  const objects = { folder: join(folder, 'objects'), bucketName: 'images', credentials, region };
  const engines: EnginesFile = {
    tableName: table.name,
    bucketName: objects.bucketName,
    dynamoDbUrl,
    s3Url: keep(await startS3(objects)).url,
    cognitoUrl: 'http://127.0.0.1:9',
    userPoolId: 'us-east-1_test',
    region,
    ...credentials,
  };
  writeJson(dataFolder(folder).engines, engines);
  /** Runs a command of the CLI in this process. Words are split, what follows is taken as it is. */
  const admin = (words: string, ...more: string[]) =>
    runHere(['--data', folder, ...words.split(' '), ...more]);
  return {
    /** The data folder that `--data` names. */
    folder,
    engines,
    /** The same table, for what only the service itself would write. */
    table,
    admin,
    /** Runs a command with `--json` and demands success. @returns the one object on stdout. */
    async json(words: string, ...more: string[]): Promise<any> {
      const run = await admin(words, ...more, '--json');
      if (run.code !== 0) throw new Error(`admin ${words} … ended with ${run.code}: ${run.stderr}`);
      return JSON.parse(run.stdout);
    },
    /** Runs a command that must be refused with this exit code, without a word on stdout. @returns what it says. */
    async refused(code: 1 | 2, words: string, ...more: string[]): Promise<string> {
      const { stderr, ...run } = await admin(words, ...more);
      expect(run).toEqual({ code, stdout: '' });
      return stderr;
    },
    /** A license as a grant leaves it, without the cost of a process. */
    async license(members?: Partial<License>): Promise<License> {
      const license = newLicense({ ownerId: 'owner', ...members });
      await licenseStore(table).insert(license);
      return license;
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
