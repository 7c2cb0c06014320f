import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { License } from '../../shared/domain/license.ts';

export interface StoredObject {
  key: string;
  file: Buffer;
}

/** What lies in a service's bucket for a license: each file has its key in it (local/s3/store.ts). */
export function objectsOf(dataDir: string, { licenseId }: License): StoredObject[] {
  return readdirSync(join(dataDir, 'objects'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)))
    .flatMap((file) => {
      const key = /"key":"([^"]+)"/.exec(file.toString('latin1'))?.[1] ?? '';
      return key.includes(`/${licenseId}/`) ? [{ key, file }] : [];
    });
}

/** The copies of reference images among them. */
export function copiesOf(dataDir: string, license: License): StoredObject[] {
  return objectsOf(dataDir, license).filter(({ key }) => key.includes('/reference-'));
}
