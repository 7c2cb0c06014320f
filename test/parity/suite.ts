import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../..', import.meta.url));

/** What can run against any DynamoDB: the others start the embedded engine, for its clock, its folder or its process. */
const files = [
  ...[
    'concurrency',
    'model',
    'numbers',
    'reads',
    'single-writes',
    'tokens',
    'transact-refused',
    'transact-write',
  ].map((name) => `test/engine/dynamodb/${name}.test.ts`),
  ...[
    'access',
    'catalog',
    'generation-pages',
    'generation-records',
    'history',
    'key-records',
    'key-roster',
    'license-records',
    'metrics',
    'model-faults',
    'references',
    'store-faults',
    'table-reads',
  ].map((name) => `test/engine/workflow/${name}.test.ts`),
];

/** Of jest's JSON, what is read here. */
interface JestResults {
  testResults: {
    name: string;
    /** What it says when a file could not even be loaded. */
    message: string;
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[];
  }[];
}

export interface Outcome {
  /** By file. */
  counts: Record<string, { passed: number; failed: number; skipped: number }>;
  /** The tests that found something else than they should. */
  differences: { file: string; test: string; why: string }[];
}

/** Runs the conformance tests and those of the stores against a DynamoDB. */
export async function runSuite(url: string): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'parity-'));
  const output = join(folder, 'results.json');
  try {
    const jest = join(repository, 'node_modules/jest/bin/jest.js');
    const flags = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
    const options = ['--selectProjects', 'engine', '--json', '--outputFile', output, '--runTestsByPath'];
    const child = spawn(process.execPath, [...flags, jest, ...options, ...files], {
      cwd: repository,
      env: { ...process.env, DYNAMODB_ENDPOINT: url },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    await once(child, 'exit');
    return outcomeOf(JSON.parse(readFileSync(output, 'utf8')) as JestResults);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function outcomeOf({ testResults }: JestResults): Outcome {
  const outcome: Outcome = { counts: {}, differences: [] };
  for (const { name, message, assertionResults } of testResults) {
    const file = relative(repository, name);
    const count = (...of: string[]) => assertionResults.filter(({ status }) => of.includes(status)).length;
    outcome.counts[file] = {
      passed: count('passed'),
      failed: count('failed'),
      skipped: count('pending', 'skipped', 'todo'),
    };
    for (const { fullName, status, failureMessages } of assertionResults) {
      if (status === 'failed')
        outcome.differences.push({ file, test: fullName, why: failureMessages.join('\n') });
    }
    if (assertionResults.length === 0) outcome.differences.push({ file, test: 'the file', why: message });
  }
  return outcome;
}
