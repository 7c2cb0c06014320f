import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const source = new URL('../../clients/typescript/src/index.ts', import.meta.url).href;

/** Makes `import 'image-generation-client'` find the client's source in a folder, without a build. */
export function installClient(folder: string): void {
  const place = join(folder, 'node_modules', 'image-generation-client');
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'package.json'), '{ "type": "module", "exports": "./index.js" }');
  writeFileSync(join(place, 'index.js'), `export * from ${JSON.stringify(source)};`);
}
