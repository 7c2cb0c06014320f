import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { dataFolder, writeJson, type EnginesFile } from '../../../local/data-folder.ts';
import { startDynamoDb } from '../../../local/dynamodb/engine.ts';
import type { License } from '../../../shared/domain/license.ts';
import { licenseStore } from '../../../shared/store/license-store.ts';
import type { Table } from '../../../shared/store/table.ts';
import { tableSchema } from '../../../shared/store/table-keys.ts';
import { newLicense } from '../../support/grants.ts';

export const tableName = 'admin-test';
const region = 'us-east-1';
const credentials = { accessKeyId: 'LOCALTEST', secretAccessKey: 'a-secret-for-tests' };
const repository = new URL('../../..', import.meta.url).pathname;

export interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** What a local service leaves for the CLI to find, with the real engine behind it. */
export interface World {
  /** The data folder that `--data` names. */
  folder: string;
  /** The same table, for what only the service itself would write. */
  table: Table;
  engines: EnginesFile;
  /** Runs the CLI as an operator does, in a process of its own. Words are split, what follows is taken as it is. */
  admin(words: string, ...more: string[]): Promise<Run>;
  /** Runs it with `--json` and demands success. @returns the one object on stdout. */
  json(words: string, ...more: string[]): Promise<any>;
  /** A license as a grant leaves it, without the cost of a process. */
  license(members?: Partial<License>): Promise<License>;
  close(): Promise<void>;
}

export async function openWorld(): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'admin-test-'));
  const { table: tableFolder, engines: enginesPath } = dataFolder(folder);
  const engine = await startDynamoDb({ folder: tableFolder });
  const client = new DynamoDBClient({ endpoint: engine.url, region, credentials });
  await client.send(
    new CreateTableCommand({ TableName: tableName, ...structuredClone(tableSchema) } as never),
  );
  const s3Url = 'http://127.0.0.1:1';
  const engines = {
    region,
    tableName,
    bucketName: 'images',
    dynamoDbUrl: engine.url,
    s3Url,
    ...credentials,
  };
  writeJson(enginesPath, engines);
  const admin = (words: string, ...more: string[]) =>
    runAdmin(['--data', folder, ...words.split(' '), ...more]);
  const table = { name: tableName, client, documents: DynamoDBDocumentClient.from(client) };
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
      client.destroy();
      await engine.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Runs the CLI without a terminal, and with nothing of this machine's AWS set-up. */
export async function runAdmin(args: string[], env: Record<string, string> = {}): Promise<Run> {
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, [join(repository, 'bin/admin.ts'), ...args], {
    cwd: tmpdir(),
    env: { PATH, AWS_CONFIG_FILE: '/dev/null', AWS_SHARED_CREDENTIALS_FILE: '/dev/null', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return endOf(child);
}

function endOf(child: ChildProcess): Promise<Run> {
  const run: Run = { code: null, stdout: '', stderr: '' };
  child.stdout!.on('data', (chunk: Buffer) => (run.stdout += chunk.toString()));
  child.stderr!.on('data', (chunk: Buffer) => (run.stderr += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ ...run, code }));
  });
}
