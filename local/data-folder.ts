import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from './start-error.ts';

/** What `DIR/service.json` keeps: it also marks the folder as ours, so that `--fresh` empties no other. */
export interface ServiceFile {
  version: 1;
  /** Signs links; kept, so that links outlive a restart. */
  accessKeyId: string;
  secretAccessKey: string;
  /** Null until the demo world was made to its end. */
  demo: DemoFile | null;
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
  accessKeyId: string;
  secretAccessKey: string;
}

export interface DataFolder {
  path: string;
  table: string;
  objects: string;
  log: string;
  ready: string;
  engines: string;
}

export function dataFolder(path: string): DataFolder {
  return {
    path,
    table: join(path, 'table'),
    objects: join(path, 'objects'),
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
  const foreign = [folder.table, folder.objects].some((path) => existsSync(path));
  if (foreign && !existsSync(serviceFile(folder))) {
    throw new StartError(
      `The data folder ${folder.path} holds data that is not this service's: name another one with --data.`,
    );
  }
}

/** Removes what the service keeps there, and nothing else. Only a folder that was opened may be emptied. */
export function emptyDataFolder(folder: DataFolder): void {
  const { table, objects, log, ready, engines } = folder;
  // The mark goes last, so that an interrupted removal can be taken up again.
  for (const path of [table, objects, log, ready, engines, serviceFile(folder)]) {
    rmSync(path, { recursive: true, force: true });
  }
}

export function readServiceFile(folder: DataFolder): ServiceFile {
  const path = serviceFile(folder);
  if (!existsSync(path)) {
    const made: ServiceFile = {
      version: 1,
      accessKeyId: `LOCAL${randomBytes(8).toString('hex').toUpperCase()}`,
      secretAccessKey: randomBytes(24).toString('base64url'),
      demo: null,
    };
    writeServiceFile(folder, made);
    return made;
  }
  try {
    const stored = JSON.parse(readFileSync(path, 'utf8')) as ServiceFile;
    const { version, accessKeyId, secretAccessKey, demo } = stored;
    if (version !== 1 || !accessKeyId || !secretAccessKey || typeof demo !== 'object')
      throw new Error('shape');
    return stored;
  } catch {
    throw new StartError(
      `The data folder ${folder.path} is corrupt (service.json can't be read): start with --fresh to empty it.`,
    );
  }
}

export function writeServiceFile(folder: DataFolder, content: ServiceFile): void {
  writeJson(serviceFile(folder), content);
}

/** Whole or not at all, and readable by its owner only: these files hold keys. */
export function writeJson(path: string, content: unknown): void {
  writeFileSync(`${path}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

function serviceFile(folder: DataFolder): string {
  return join(folder.path, 'service.json');
}
