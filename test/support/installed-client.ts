import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { npmName } from '../../dashboard/src/lib/client-packages.ts';

const source = new URL('../../clients/typescript/src/index.ts', import.meta.url).href;

/** Makes the import of the client's package find the client's source in a folder, without a build. */
export function installClient(folder: string): void {
  const place = join(folder, 'node_modules', npmName);
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'package.json'), '{ "type": "module", "exports": "./index.js" }');
  writeFileSync(join(place, 'index.js'), `export * from ${JSON.stringify(source)};`);
}
