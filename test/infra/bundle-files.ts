import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

/** What holds of the code of every function. @param fileOf where its code lies, its source map beside it */
export function bundleFileTests(functionNames: string[], fileOf: (name: string) => string): void {
  test.each(functionNames)('%s holds one copy of each package', (name) => {
    const { sources } = JSON.parse(readFileSync(`${fileOf(name)}.map`, 'utf8')) as { sources: string[] };
    const folders = sources.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []);
    const packages = [...new Set(folders)].map((folder) => folder.split('node_modules/').at(-1)!);
    expect(packages.length).toBeGreaterThan(0);
    expect(packages.filter((one, i) => packages.indexOf(one) < i)).toEqual([]);
  });

  test('load modules of Node.js by require, not import', () => {
    for (const name of functionNames) {
      const code = readFileSync(fileOf(name), 'utf8');
      const imports = /\bimport\(|\bimport\b[^;]*\bfrom"/.test(code);
      expect({ name, imports, requires: code.includes('require("node:') }).toEqual({
        name,
        imports: false,
        requires: true,
      });
    }
  });
}
