import { spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeTypes } from './generate-types.ts';

/** Builds this package: modules and their types in `dist`, and the license that npm packs. @throws Error when it does not compile */
export async function buildClient(): Promise<void> {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  const dist = join(folder, 'dist');
  const compiler = dirname(createRequire(join(folder, '..')).resolve('typescript/package.json'));
  await writeTypes();
  rmSync(dist, { recursive: true, force: true });
  const args = [join(compiler, 'bin', 'tsc'), '-p', join(folder, 'tsconfig.build.json')];
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (status !== 0) throw new Error('The TypeScript client does not compile.');
  // The compiler rewrites import paths in code, but not in declaration files.
  for (const name of readdirSync(dist).filter((file) => file.endsWith('.d.ts'))) {
    const types = readFileSync(join(dist, name), 'utf8');
    writeFileSync(join(dist, name), types.replace(/('\.\/[\w-]+)\.ts'/g, "$1.js'"));
  }
  copyFileSync(join(folder, '../../LICENSE'), join(folder, 'LICENSE'));
  console.log('The TypeScript client was built.');
}

if (import.meta.main) await buildClient();
