import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { zipSync } from 'fflate';
import { createTarGzip } from 'nanotar';
import { parse } from 'smol-toml';
import type { Plugin } from 'vite';
import { buildClient } from '../clients/typescript/build.ts';
import { packagePaths } from './src/lib/client-packages.ts';

/** Puts the packages of both clients beside the app's files, so that npm and pip can install them from there. */
export function clientPackages(): Plugin {
  return {
    name: 'client-packages',
    apply: 'build',
    async generateBundle() {
      this.emitFile({ type: 'asset', fileName: packagePaths.npm, source: await npmTarball() });
      this.emitFile({ type: 'asset', fileName: packagePaths.python, source: pythonWheel() });
    },
  };
}

/** The files of a client that patterns name, in one order, by their paths below `folder`. */
function filesOf(folder: string, pattern: string): [path: string, content: Buffer][] {
  const cwd = fileURLToPath(new URL(`../clients/${folder}/`, import.meta.url));
  const paths = globSync(pattern, { cwd }).sort();
  return paths.map((path) => [path.replaceAll('\\', '/'), readFileSync(cwd + path)]);
}

/** What `npm pack` makes of the TypeScript client, without npm. */
async function npmTarball(): Promise<Uint8Array> {
  await buildClient();
  const files = filesOf('typescript', '{LICENSE,README.md,package.json,dist/*}');
  const entries = files.map(([path, data]) => ({ name: `package/${path}`, data: new Uint8Array(data) }));
  return createTarGzip(entries, { attrs: { mode: '644', mtime: Date.UTC(2020, 1, 2) } });
}

/**
 * The wheel that Python's builder makes of the Python client, without Python, so that Node.js alone can build the
 * dashboard. Source: packaging.python.org, "Binary distribution format".
 */
function pythonWheel(): Uint8Array {
  const [, stem, version] = /([^/]+-([\d.]+))-py3/.exec(packagePaths.python)!;
  const about = new Map(filesOf('python', '{LICENSE,README.md,pyproject.toml}'));
  const { project } = parse(about.get('pyproject.toml')!.toString()) as { project: any };
  const scripts = Object.entries(project.scripts).map(([name, place]) => `${name} = ${place}\n`);
  const info = Object.entries({
    METADATA: metadata(project, version!, about.get('README.md')!.toString()),
    WHEEL: 'Wheel-Version: 1.0\nGenerator: image-generation\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    'entry_points.txt': `[console_scripts]\n${scripts.join('')}`,
    'licenses/LICENSE': about.get('LICENSE')!,
  });
  const files: [string, Buffer][] = [
    ...filesOf('python/src', 'image_generation/**/*.{py,typed}'),
    ...info.map(([name, content]): [string, Buffer] => [`${stem}.dist-info/${name}`, Buffer.from(content)]),
  ];
  const record = files.map(([path, content]) => {
    const hash = createHash('sha256').update(content).digest('base64url');
    return `${path},sha256=${hash},${content.length}\n`;
  });
  const recordPath = `${stem}.dist-info/RECORD`;
  files.push([recordPath, Buffer.from(`${record.join('')}${recordPath},,\n`)]);
  // One time for all files, as in the tarball, so that the same sources make the same bytes. A ZIP's times have no zone.
  return zipSync(Object.fromEntries(files), { mtime: new Date(2020, 1, 2) });
}

/** Source: packaging.python.org, "Core metadata specifications". */
function metadata(project: any, version: string, readme: string): string {
  const extras: [string, string[]][] = Object.entries(project['optional-dependencies']);
  const lines = [
    'Metadata-Version: 2.4',
    `Name: ${project.name}`,
    `Version: ${version}`,
    `Summary: ${project.description}`,
    `License-Expression: ${project.license}`,
    'License-File: LICENSE',
    `Keywords: ${project.keywords}`,
    ...project.classifiers.map((one: string) => `Classifier: ${one}`),
    `Requires-Python: ${project['requires-python']}`,
    ...project.dependencies.map((one: string) => `Requires-Dist: ${one}`),
    ...extras.flatMap(([extra, of]) => [
      `Provides-Extra: ${extra}`,
      ...of.map((one) => `Requires-Dist: ${one}; extra == '${extra}'`),
    ]),
    'Description-Content-Type: text/markdown',
  ];
  return `${lines.join('\n')}\n\n${readme}`;
}
