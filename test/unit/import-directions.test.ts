import { spawnSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { repository } from '../support/repository.ts';

const require = createRequire(import.meta.url);

/** The lines of a table, each a file and what it imports, as pairs of file and import. */
const pairs = (table: string): [string, string][] =>
  table
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [file, ...sources] = line.trim().split(/ +/) as [string, ...string[]];
      return sources.map((source): [string, string] => [file, source]);
    });

/** The rooms of shared/ in their order: each may import those before it. */
const rooms =
  'base table images accounts licenses identities limits moderation routes keys model references generations billing http openapi openai mcp'.split(
    ' ',
  );
const between = (allowedWay: boolean): [string, string][] =>
  rooms.flatMap((room, at) =>
    rooms
      .filter((_, other) => (allowedWay ? other < at : other > at))
      .map((other): [string, string] => [`shared/${room}/sample.ts`, `../${other}/sample.ts`]),
  );

/** Each points against the direction that is allowed. */
const forbidden = [
  ...between(false),
  ...pairs(`
  shared/base/sample.ts           ../../functions/sweep.ts ../../local/service.ts ../../painter/src/server.ts
  shared/mcp/sample.ts            ../../functions/sweep.ts ../../local/service.ts ../../lib/service-stack.ts
  functions/sample.ts             ./sweep.ts ../local/service.ts ../bin/local.ts
  functions/sample.ts             ../painter/src/server.ts
  local/sample.ts                 ../bin/local.ts ../painter/src/pool.ts
  local/deeper/sample.ts          ../../lib/service-stack.ts
  bin/sample.ts                   ../painter/src/pool.ts
  test/unit/sample.ts             ../../painter/src/pool.ts ../../painter/test/support/painting.ts
  lib/sample.ts                   ../painter/src/server.ts ../functions/sweep.ts
  lib/sample.ts                   ../shared/table/table.ts ../shared/licenses/license.ts
  dashboard/src/sample.ts         ../../painter/src/server.ts ../../local/service.ts
  painter/src/sample.ts           ../../shared/base/errors.ts
  painter/src/art/sample.ts       ../../../local/service.ts
  painter/test/sample.ts          ../../test/support/until.ts
  lib/constructs/sample.ts        ../../local/service.ts
  dashboard/src/api/sample.ts     ../../../shared/licenses/tiers.ts ../../../shared/base/errors.ts
  dashboard/src/lib/sample.ts      ../api/client.ts @/components/time.tsx
  dashboard/src/api/sample.ts      @/components/time.tsx ../auth/session.ts
  dashboard/src/components/ui/sample.ts ../../auth/session.ts @/license/license-badge.tsx
  dashboard/src/auth/sample.ts     ../license/license-choice.ts @/layout/page.tsx
  dashboard/src/license/sample.ts  ../layout/page.tsx @/screens/keys/key-view.ts
  dashboard/src/layout/sample.ts   ../screens/keys/key-view.ts
  dashboard/src/screens/keys/sample.ts           ../history/filters.ts @/screens/history/filters.ts
  dashboard/src/screens/history/compare/sample.ts ../../keys/key-view.ts
  clients/typescript/src/sample.ts ../../shared/base/errors.ts node:crypto zod
`),
];

/** Each follows the direction. */
const allowed = [
  ...between(true),
  ...pairs(`
  shared/base/sample.ts                     ./errors.ts node:crypto zod/mini
  functions/sample.ts                       ../shared/openapi/document.ts ../shared/http/endpoint.ts
  local/sample.ts                           ../functions/sweep.ts ../painter/src/server.ts
  local/deeper/sample.ts                    ../sample.ts
  test/unit/sample.ts                       ../../painter/src/server.ts ../../local/service.ts
  painter/src/art/sample.ts                 ../pool.ts
  painter/test/sample.ts                    ../src/pool.ts
  lib/sample.ts                             ../shared/routes/routes.ts ../shared/base/config.ts
  lib/sample.ts                             ../shared/table/keys.ts ../shared/base/metrics.ts
  lib/sample.ts                             ../shared/billing/prices.ts ../shared/licenses/tiers.ts
  bin/sample.ts                             ../lib/service-stack.ts
  dashboard/src/api/sample.ts               ./client.ts ../../../clients/typescript/src/index.ts
  dashboard/src/screens/keys/sample.ts      ../../../../shared/base/search.ts ../../../../shared/images/image-size.ts
  clients/typescript/src/sample.ts          ./errors.ts
  dashboard/src/screens/overview/sample.ts  ../../lib/format.ts @/layout/page.tsx ./share-rows.ts
  dashboard/src/screens/history/compare/sample.ts ../filters.ts
  dashboard/src/layout/sample.ts            @/license/license-choice.ts ../lib/theme.ts
  dashboard/src/license/sample.ts           ../auth/session.ts
  lib/constructs/sample.ts                  ../../shared/routes/gateway-failures.ts
`),
];

/** Allowed as a type, and only so: nothing of the service is bundled into the dashboard. */
const typesOnly = pairs('dashboard/src/lib/sample.ts ../../../shared/licenses/contract.ts');

interface Diagnostic {
  code?: string;
  filename: string;
  labels: { span: { line: number } }[];
}

/** The ways to import, each a line of code that uses what it imports. */
const forms: Record<string, (source: string, i: number) => string> = {
  'an import': (source, i) => `import { x as x${i} } from '${source}'; x${i}();`,
  'an import of types': (source, i) =>
    `import type { X as X${i} } from '${source}'; export type Y${i} = X${i};`,
  'a re-export': (source, i) => `export { x as x${i} } from '${source}';`,
};
/** What each file imports, in the order of its lines. */
const sourcesOf = Map.groupBy([...forbidden, ...allowed, ...typesOnly], ([file]) => file);
const configuration = new URL('../../.oxlintrc.json', import.meta.url);

let folder: string;
/** The lines that the project's own rules refuse. */
let refused: Set<string>;

/** All are linted in one run: for each form a tree that has every file, with a line for each of its imports. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'import-directions-'));
  for (const [form, lineFor] of Object.entries(forms)) {
    for (const [file, imports] of sourcesOf) {
      const path = join(folder, form, file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, imports.map(([, source], i) => `${lineFor(source, i)}\n`).join(''));
    }
    copyFileSync(configuration, join(folder, form, '.oxlintrc.json'));
  }
  const oxlint = join(dirname(require.resolve('oxlint/package.json')), 'bin', 'oxlint');
  const command = [oxlint, '--format', 'json', '.'];
  const options = { cwd: folder, encoding: 'utf8', maxBuffer: 100_000_000 } as const;
  const { stdout } = spawnSync(process.execPath, command, options);
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: Diagnostic[] };
  const found = diagnostics.filter(({ code }) => code?.includes('no-restricted-imports'));
  refused = new Set(
    found.map(({ filename, labels }) => `${filename.replace(/^\.\//, '')}:${labels[0]!.span.line}`),
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function refusedForms(file: string, source: string): string[] {
  const line = sourcesOf.get(file)!.findIndex(([, one]) => one === source) + 1;
  return Object.keys(forms).filter((form) => refused.has(`${form}/${file}:${line}`));
}

test.each(forbidden)('the linter refuses in %s every way to import %s', (file, source) => {
  expect(refusedForms(file, source)).toEqual(Object.keys(forms));
});

test.each(allowed)('the linter allows in %s every way to import %s', (file, source) => {
  expect(refusedForms(file, source)).toEqual([]);
});

test.each(typesOnly)('the linter allows in %s only the types of %s', (file, source) => {
  expect(refusedForms(file, source)).toEqual(['an import', 'a re-export']);
});

test('only stores, clients and what makes them speak to AWS, files and the network', () => {
  const doesIo =
    /^shared\/(table\/.*|.*\/([a-z-]*store|pages|[a-z-]*client|fetcher|findings|directory|mailer|aws-clients|lambda-[a-z]+|message-queue|original-frame|signed-fetch|link-signer|preview-role|upload-forms|component-status))\.ts$/;
  const speaking = globSync('shared/**/*.ts', { cwd: repository }).filter((file) =>
    /from '(@aws-sdk|node:(fs|https?|net|dns|tls))/.test(readFileSync(join(repository, file), 'utf8')),
  );
  expect(speaking.length).toBeGreaterThan(25);
  expect(speaking.filter((file) => !doesIo.test(file))).toEqual(['shared/references/public-address.ts']);
});

test('no path is the pathname of a file URL, which writes a space as %20', () => {
  const sources = '{bin,clients,dashboard,functions,lib,local,painter,shared,test}/**/*.{ts,tsx,js,mjs,cjs}';
  const exclude = ({ name }: { name: string }): boolean => ['node_modules', 'dist'].includes(name);
  const files = globSync(sources, { cwd: repository, exclude, withFileTypes: true });
  const wrong = files
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => /import\.meta\.url\)\.pathname/.test(readFileSync(path, 'utf8')));
  expect(files.length).toBeGreaterThan(1000);
  expect(wrong).toEqual([]);
});
