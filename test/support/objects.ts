import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { License } from '../../shared/licenses/license.ts';

export interface StoredObject {
  key: string;
  file: Buffer;
}

/** All that lies in a service's bucket: each file has its key in it (local/s3/store.ts). */
export function allObjects(dataDir: string): StoredObject[] {
  return readdirSync(join(dataDir, 'objects'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readIfThere(join(entry.parentPath, entry.name)))
    .flatMap((file) => {
      const key = /"key":"([^"]+)"/.exec(file.toString('latin1'))?.[1];
      return key === undefined ? [] : [{ key, file }];
    });
}

/** Of a running service, files come and go meanwhile. */
function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}

/** What lies there for a license. */
export function objectsOf(dataDir: string, { licenseId }: License): StoredObject[] {
  return allObjects(dataDir).filter(({ key }) => key.includes(`/${licenseId}/`));
}

/** The copies of reference images among them, which are there only while their request runs. */
export function copiesOf(dataDir: string, license: License): StoredObject[] {
  return objectsOf(dataDir, license).filter(({ key }) => key.startsWith('references/'));
}
