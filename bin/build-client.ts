import { spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeTypes } from '../clients/typescript/generate-types.ts';

/** Builds the package `clients/typescript/`: modules and their types in `dist`, and the license that npm packs. */
async function build(root: string): Promise<number> {
  const folder = join(root, 'clients', 'typescript');
  const dist = join(folder, 'dist');
  const compiler = dirname(createRequire(import.meta.url).resolve('typescript/package.json'));
  await writeTypes();
  rmSync(dist, { recursive: true, force: true });
  const args = [join(compiler, 'bin', 'tsc'), '-p', join(folder, 'tsconfig.build.json')];
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (status !== 0) return status ?? 1;
  // The compiler rewrites import paths in code, but not in declaration files.
  for (const name of readdirSync(dist).filter((file) => file.endsWith('.d.ts'))) {
    const types = readFileSync(join(dist, name), 'utf8');
    writeFileSync(join(dist, name), types.replace(/('\.\/[\w-]+)\.ts'/g, "$1.js'"));
  }
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  console.log('The TypeScript client was built.');
  return 0;
}

process.exitCode = await build(fileURLToPath(new URL('..', import.meta.url)));
