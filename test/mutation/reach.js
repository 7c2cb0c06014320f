import { globSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** @returns {(id: string) => string | undefined} the file of a mutant, as Stryker has marked it in the copy that it tests */
export function mutantFiles(rootDir) {
  const files = new Map();
  for (const path of globSync('shared/**/*.ts', { cwd: rootDir })) {
    const file = resolve(rootDir, path);
    for (const [, id] of readFileSync(file, 'utf8').matchAll(/stryMutAct_\w+\("(\d+)"\)/g))
      files.set(id, file);
  }
  return (id) => files.get(id);
}

const imported = new Map();

function importsOf(file) {
  if (!imported.has(file)) {
    const names = [...readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g)];
    imported.set(
      file,
      names.map(([, name]) => resolve(dirname(file), name)).filter((name) => name.endsWith('.ts')),
    );
  }
  return imported.get(file);
}

/** @returns {number} over how many imports a test reaches a file; Infinity where it never does, so that it can't kill its mutants */
export function distance(testFile, file) {
  const seen = new Set([testFile]);
  for (let ring = [testFile], steps = 0; ring.length > 0; steps++) {
    if (ring.includes(file)) return steps;
    ring = ring.flatMap(importsOf).filter((name) => !seen.has(name) && seen.add(name));
  }
  return Infinity;
}
