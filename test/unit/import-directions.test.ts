import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

/** [file, what it imports]: each points against the direction that the layers allow. */
const forbidden: [string, string][] = [
  ['shared/errors.ts', './routes.ts'],
  ['shared/config.ts', './domain/tiers.ts'],
  ['shared/contracts/sample.ts', '../domain/tiers.ts'],
  ['shared/contracts/sample.ts', '../store/table.ts'],
  ['shared/contracts/sample.ts', '../routes.ts'],
  ['shared/domain/sample.ts', '../store/table.ts'],
  ['shared/domain/sample.ts', '../adapters/object-store.ts'],
  ['shared/domain/sample.ts', '../workflow/sweep.ts'],
  ['shared/domain/sample.ts', '../http/log.ts'],
  ['shared/domain/sample.ts', '../routes.ts'],
  ['shared/domain/sample.ts', '../../functions/sweep.ts'],
  ['shared/domain/deeper/sample.ts', '../../store/table.ts'],
  ['shared/domain/sample.ts', '@aws-sdk/client-s3'],
  ['shared/domain/sample.ts', 'node:fs'],
  ['shared/domain/sample.ts', 'node:fs/promises'],
  ['shared/domain/sample.ts', 'node:https'],
  ['shared/store/sample.ts', '../adapters/object-store.ts'],
  ['shared/store/sample.ts', '../workflow/sweep.ts'],
  ['shared/store/sample.ts', '../http/log.ts'],
  ['shared/store/sample.ts', '../routes.ts'],
  ['shared/adapters/sample.ts', '../store/table.ts'],
  ['shared/adapters/sample.ts', '../workflow/sweep.ts'],
  ['shared/workflow/sample.ts', '../http/log.ts'],
  ['shared/workflow/sample.ts', '../routes.ts'],
  ['shared/http/sample.ts', '../../functions/sweep.ts'],
  ['shared/http/sample.ts', '../../local/service.ts'],
  ['shared/routes.ts', '../functions/sweep.ts'],
  ['shared/contracts/sample.ts', '../openapi/document.ts'],
  ['shared/http/sample.ts', '../openapi/document.ts'],
  ['shared/openapi/sample.ts', '../http/log.ts'],
  ['shared/openapi/sample.ts', '../domain/tiers.ts'],
  ['shared/openapi/sample.ts', '../store/table.ts'],
  ['shared/openapi/sample.ts', '../../functions/sweep.ts'],
  ['functions/sample.ts', './sweep.ts'],
  ['functions/sample.ts', '../local/service.ts'],
  ['functions/sample.ts', '../bin/local.ts'],
  ['local/sample.ts', '../bin/local.ts'],
  ['local/deeper/sample.ts', '../../lib/service-stack.ts'],
  ['lib/sample.ts', '../functions/sweep.ts'],
  ['lib/constructs/sample.ts', '../../local/service.ts'],
  ['lib/sample.ts', '../shared/store/table.ts'],
  ['lib/sample.ts', '../shared/domain/tiers.ts'],
  ['dashboard/src/api/sample.ts', '../../../shared/domain/tiers.ts'],
  ['dashboard/src/api/sample.ts', '../../../shared/errors.ts'],
  ['dashboard/src/sample.ts', '../../local/service.ts'],
  ['client/src/sample.ts', '../../shared/errors.ts'],
  ['client/src/sample.ts', 'node:crypto'],
  ['client/src/sample.ts', 'zod'],
];

/** [file, what it imports]: each follows the direction. */
const allowed: [string, string][] = [
  ['shared/contracts/sample.ts', '../errors.ts'],
  ['shared/contracts/sample.ts', './fields.ts'],
  ['shared/domain/sample.ts', '../contracts/generation.ts'],
  ['shared/domain/sample.ts', '../errors.ts'],
  ['shared/domain/sample.ts', 'node:crypto'],
  ['shared/store/sample.ts', '../domain/tiers.ts'],
  ['shared/store/sample.ts', './table.ts'],
  ['shared/adapters/sample.ts', '../contracts/model-server.ts'],
  ['shared/workflow/sample.ts', '../store/table.ts'],
  ['shared/workflow/sample.ts', '../adapters/object-store.ts'],
  ['shared/http/sample.ts', '../workflow/sweep.ts'],
  ['shared/http/sample.ts', '../routes.ts'],
  ['shared/routes.ts', './domain/rate-limit.ts'],
  ['shared/openapi/sample.ts', '../routes.ts'],
  ['shared/openapi/sample.ts', '../errors.ts'],
  ['shared/openapi/sample.ts', '../contracts/generation.ts'],
  ['functions/sample.ts', '../shared/openapi/document.ts'],
  ['functions/sample.ts', '../shared/http/endpoint.ts'],
  ['local/sample.ts', '../functions/sweep.ts'],
  ['local/deeper/sample.ts', '../sample.ts'],
  ['lib/sample.ts', '../shared/routes.ts'],
  ['lib/sample.ts', '../shared/config.ts'],
  ['lib/sample.ts', '../shared/store/table-keys.ts'],
  ['bin/sample.ts', '../lib/service-stack.ts'],
  ['test/unit/sample.ts', '../../local/service.ts'],
  ['dashboard/src/api/sample.ts', './client.ts'],
  ['dashboard/src/api/sample.ts', '../../../client/src/index.ts'],
  ['client/src/sample.ts', './errors.ts'],
  ['dashboard/src/screens/overview/sample.ts', '../../lib/format.ts'],
  ['lib/sample.ts', '../shared/metrics.ts'],
  ['lib/constructs/sample.ts', '../../shared/gateway-failures.ts'],
  ['lib/sample.ts', '../shared/contracts/billing-prices.ts'],
];

/** Allowed as a type, and only so: nothing of the service is bundled into the dashboard. */
const typesOnly: [string, string][] = [
  ['dashboard/src/api/sample.ts', '../../../shared/contracts/license.ts'],
];

interface Diagnostic {
  code?: string;
  filename: string;
}

let folder: string;
/** The statements that the project's own rules refuse, as `file: import`. */
let refused: Set<string>;

/** All samples are linted in one run, each in a tree of its own, so that one file may be there many times. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'import-directions-'));
  const samples = [...forbidden, ...allowed, ...typesOnly];
  samples.forEach(([file, source], i) => {
    const forms = [
      `import { x } from '${source}';\nx();`,
      `import type { X } from '${source}';\nexport type Y = X;`,
    ];
    forms.push(`export { x } from '${source}';`);
    forms.forEach((code, form) => write(join(folder, `${i}-${form}`), file, `${code}\n`));
  });
  refused = new Set();
  const oxlint = join(
    dirname(createRequire(import.meta.url).resolve('oxlint/package.json')),
    'bin',
    'oxlint',
  );
  samples.forEach((_, i) =>
    copyConfigTo(join(folder, `${i}-0`), join(folder, `${i}-1`), join(folder, `${i}-2`)),
  );
  const { stdout } = spawnSync(process.execPath, [oxlint, '--format', 'json', '.'], {
    cwd: folder,
    encoding: 'utf8',
  });
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: Diagnostic[] };
  for (const { code, filename } of diagnostics) {
    if (code?.includes('no-restricted-imports')) refused.add(filename.replace(/^\.\//, ''));
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(root: string, file: string, code: string): void {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), code);
}

function copyConfigTo(...roots: string[]): void {
  for (const root of roots)
    copyFileSync(new URL('../../.oxlintrc.json', import.meta.url), join(root, '.oxlintrc.json'));
}

const forms = ['an import', 'an import of types', 'a re-export'];
const refusedForms = (index: number, file: string) =>
  forms.filter((_, form) => refused.has(`${index}-${form}/${file}`));

describe('the linter refuses, as an import, as an import of types and as a re-export', () => {
  test.each(forbidden.map(([file, source], i) => ({ file, source, i })))(
    '$file from $source',
    ({ file, i }) => {
      expect(refusedForms(i, file)).toEqual(forms);
    },
  );
});

describe('the linter allows', () => {
  test.each(allowed.map(([file, source], i) => ({ file, source, i })))(
    '$file from $source',
    ({ file, i }) => {
      expect(refusedForms(forbidden.length + i, file)).toEqual([]);
    },
  );
});

test.each(typesOnly)('%s may import only the types of %s', (file) => {
  expect(refusedForms(forbidden.length + allowed.length, file)).toEqual(['an import', 'a re-export']);
});
