import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { regionsWithout } from '../../lib/regions.ts';
import { pythonPath } from '../support/python.ts';
import { templatePathsOf } from '../support/stack-templates.ts';
import { repository } from '../support/repository.ts';

test('the regions that lack a resource type which an option brings are those of cfn-lint', () => {
  const script = [
    'import json, pathlib, cfnlint',
    'folder = pathlib.Path(cfnlint.__file__).parent / "data/schemas/providers"',
    'print(json.dumps({f.stem: list(json.loads(f.read_text())) for f in sorted(folder.glob("*-*.json"))}))',
  ].join('\n');
  const options = { encoding: 'utf8', maxBuffer: 100_000_000 } as const;
  const { stdout } = spawnSync(join(pythonPath, 'python'), ['-c', script], options);
  const typesOf = Object.entries(JSON.parse(stdout) as Record<string, string[]>);
  expect(typesOf.length).toBeGreaterThan(30);
  for (const [type, lacking] of Object.entries(regionsWithout)) {
    const found = typesOf.flatMap(([region, types]) => (types.includes(type) ? [] : [region]));
    expect([type, lacking]).toEqual([type, found]);
  }
});

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
