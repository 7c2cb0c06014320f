import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JWK } from 'jose';
import type { Account } from './cognito/options.ts';
import { demoAccounts, demoIdentities, demoKeys, demoLicenses } from './demo-data.ts';
import { StartError } from './start-error.ts';

/** The content of `DIR/service.json`. The file also marks the folder as ours: `--fresh` empties no other. */
export interface ServiceFile {
  version: 2;
  /** Signs links. It is kept, so that links outlive a restart. */
  accessKeyId: string;
  secretAccessKey: string;
  /** Null until the demo data is complete. */
  demo: DemoFile | null;
  signIn: SignInFile | null;
  /** Whether the demo identities were given their samples. */
  hasSamples?: boolean;
}

export interface SignInFile {
  accounts: Account[];
  /** Signs sessions. It is kept, so that they outlive a restart. */
  signingKey: JWK;
}

export interface DemoFile {
  identities: Record<string, string>;
  licenses: Record<string, string>;
  keys: Record<string, string>;
}

/** Where a running service's engines are; the CLI finds them here. */
export interface EnginesFile {
  region: string;
  tableName: string;
  bucketName: string;
  dynamoDbUrl: string;
  s3Url: string;
  /** Of the user pools API. */
  cognitoUrl: string;
  userPoolId: string;
  accessKeyId: string;
  secretAccessKey: string;
}

export interface DataFolder {
  path: string;
  table: string;
  objects: string;
  /** Where e-mails are written that a deployment would send. */
  outbox: string;
  log: string;
  ready: string;
  engines: string;
}

export function dataFolder(path: string): DataFolder {
  return {
    path,
    table: join(path, 'table'),
    objects: join(path, 'objects'),
    outbox: join(path, 'outbox'),
    log: join(path, 'service.log'),
    ready: join(path, 'ready.json'),
    engines: join(path, 'engines.json'),
  };
}

/** Makes the folder if there is none. @throws StartError when it can't be used, or holds another program's data. */
export function openDataFolder(folder: DataFolder): void {
  try {
    mkdirSync(folder.path, { recursive: true });
  } catch (error) {
    throw new StartError(`The data folder ${folder.path} can't be used: ${(error as Error).message}.`);
  }
  const hasData = [folder.table, folder.objects].some((path) => existsSync(path));
  if (hasData && !existsSync(serviceFile(folder))) {
    throw new StartError(
      `The data folder ${folder.path} holds data that is not this service's: name another one with --data.`,
    );
  }
}

/** Removes what the service keeps there, and nothing else. Only a folder that was opened may be emptied. */
export function emptyDataFolder(folder: DataFolder): void {
  const { table, objects, log, ready, engines } = folder;
  // The mark goes last. Until then it says that the rest is incomplete, and the next start finishes the removal.
  rmSync(serviceFile(folder), { recursive: true, force: true });
  writeServiceFile(folder, newService());
  for (const path of [table, objects, log, ready, engines, serviceFile(folder)]) {
    rmSync(path, { recursive: true, force: true });
  }
}

export function readServiceFile(folder: DataFolder): ServiceFile {
  const path = serviceFile(folder);
  if (!existsSync(path)) writeServiceFile(folder, newService());
  let stored: Partial<ServiceFile>;
  try {
    stored = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw corruptFolder(folder, "service.json can't be read", cause);
  }
  if (stored.version !== 2) {
    throw new StartError(
      `The data folder ${folder.path} was made by another version: start with --fresh to make it anew.`,
    );
  }
  if (!isWhole(stored)) throw corruptFolder(folder, 'service.json is not whole');
  return stored as ServiceFile;
}

function isWhole({ accessKeyId, secretAccessKey, demo, signIn }: Partial<ServiceFile>): boolean {
  if (!accessKeyId || !secretAccessKey) return false;
  if (demo === null) return true;
  const has = (made: Record<string, unknown> | undefined, wanted: object) =>
    Object.keys(wanted).every((name) => typeof made?.[name] === 'string');
  const emails = signIn?.accounts?.map(({ email }) => email) ?? [];
  return (
    has(demo?.identities, demoIdentities) &&
    has(demo?.licenses, demoLicenses) &&
    has(demo?.keys, demoKeys) &&
    Object.values(demoAccounts).every(({ email }) => emails.includes(email)) &&
    !!signIn?.signingKey.kid
  );
}

/** Whether a first start or an emptying was interrupted, so that the demo data is incomplete. */
export function isUnfinished(folder: DataFolder): boolean {
  return existsSync(serviceFile(folder)) && readServiceFile(folder).demo === null;
}

export function corruptFolder(folder: DataFolder, what: string, cause?: unknown): StartError {
  return new StartError(
    `The data folder ${folder.path} is corrupt (${what}): start with --fresh to empty it.`,
    { cause },
  );
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function newService(): ServiceFile {
  return {
    version: 2,
    accessKeyId: `LOCAL${randomBytes(8).toString('hex').toUpperCase()}`,
    secretAccessKey: randomBytes(24).toString('base64url'),
    demo: null,
    signIn: null,
  };
}

export function writeServiceFile(folder: DataFolder, content: ServiceFile): void {
  writeJson(serviceFile(folder), content);
}

/** Writes the whole file or nothing. Only its owner may read it: these files hold keys. */
export function writeJson(path: string, content: unknown): void {
  writeFileSync(`${path}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

function serviceFile(folder: DataFolder): string {
  return join(folder.path, 'service.json');
}
