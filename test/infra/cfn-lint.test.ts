import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { pythonPath } from '../support/python.ts';
import { everything, synthesize, type Options } from '../support/synthesized.ts';

const repository = new URL('../..', import.meta.url).pathname;
/** Two whose resource types, instance types and limits AWS rolls out at different times. */
const regions = ['us-east-1', 'eu-west-1'];

/** Judges by AWS's published schemas of every resource type. @returns a line for each finding. */
function findings(options: Options): string[] {
  const synthesized = synthesize(options);
  const { status, stdout, stderr } = spawnSync(
    join(pythonPath, 'cfn-lint'),
    ['--format', 'parseable', '--template', synthesized.templatePath, '--regions', ...regions],
    { cwd: repository, encoding: 'utf8' },
  );
  synthesized.remove();
  if (status !== 0 && stdout === '') throw new Error(`cfn-lint did not run: ${stderr}`);
  // The name of the temporary folder says nothing.
  return stdout.split('\n').flatMap((line) => line.split('.template.json:').slice(1));
}

describe("cfn-lint, which knows AWS's schemas, finds nothing", () => {
  test.each<[string, Options]>([
    ['in the stack of the default configuration', {}],
    ['in the stack that has every option', everything],
  ])('%s', (_, options) => expect(findings(options)).toEqual([]), 120_000);
});
