import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { pythonPath } from '../support/python.ts';
import { templatePathsOf } from '../support/stack-templates.ts';
import { repository } from '../support/repository.ts';

/** AWS introduces resource types, instance types and limits at different times in these two. */
const regions = ['us-east-1', 'eu-west-1'];

test.each(['default', 'everything', 'atZero'] as const)(
  'cfn-lint, which knows AWS\'s schema of every resource type, finds nothing in the stacks of the configuration "%s"',
  (name) => {
    const options = [
      '--format',
      'parseable',
      '--regions',
      ...regions,
      '--template',
      ...templatePathsOf(name),
    ];
    const { status, stdout, stderr } = spawnSync(join(pythonPath, 'cfn-lint'), options, {
      cwd: repository,
      encoding: 'utf8',
    });
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
  },
  300_000,
);
